export const usage = "usage: words FILE";
