/** Cuts markdown into blocks that can be parsed one by one, with the same result as the whole text. */

/** A definition such as `[1]: https://…` holds for the whole text, so that a text with one is a single block. */
const DEFINITION = /^ {0,3}\[[^\]]+\]:/;
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/;
/** The first line of something that may belong to what stands above a blank line: an indented line or a list item. */
const CONTINUATION = /^(\s|[-*+](\s|$)|\d+[.)](\s|$))/;

/** The text in parts that give the text when they are joined. Only the last one changes while the text grows. */
export function blocksOf(text: string): string[] {
  if (text === "") return [];
  const blocks: string[] = [];
  let fence: string | null = null;
  let isAfterBlank = false;
  let begin = 0;
  for (let at = 0; at < text.length; ) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, newline < 0 ? next : newline);
    const isBlank = line.trim() === "";
    if (fence === null && DEFINITION.test(line)) return [text];
    if (fence === null && isAfterBlank && !isBlank && isSettled(line, newline >= 0)) {
      blocks.push(text.slice(begin, at));
      begin = at;
    }
    if (fence !== null || !isBlank) fence = fenceAfter(fence, line);
    isAfterBlank = isBlank;
    at = next;
  }
  return [...blocks, text.slice(begin)];
}

/** Whether a line begins a block. An unfinished line of marks alone may still become a list item. */
function isSettled(line: string, isFinished: boolean): boolean {
  if (CONTINUATION.test(line)) return false;
  return isFinished || !/^([-*+]+|\d+[.)]?)$/.test(line);
}

/** The marks of the code block that is open behind a line; null if there is none. */
function fenceAfter(fence: string | null, line: string): string | null {
  const [, marks = "", rest = ""] = FENCE.exec(line) ?? [];
  if (marks === "") return fence;
  if (fence === null) return marks.startsWith("`") && rest.includes("`") ? null : marks;
  return marks[0] === fence[0] && marks.length >= fence.length && rest.trim() === "" ? null : fence;
}
