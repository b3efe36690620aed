export const usage = "usage: words [--limit N] FILE";
