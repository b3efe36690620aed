/** Footnotes of a markdown text: their definitions are taken out and shown at its end. */

export interface Footnotes {
  /** The text of each, by its name. */
  texts: ReadonlyMap<string, string>;
  /** The names in the order in which the text refers to them. */
  order: string[];
}

const DEFINITION = /^ {0,3}\[\^([^\]\s]+)\]:[ \t]?(.*)$/;

export function withoutFootnotes(markdown: string): { text: string; notes: Footnotes } {
  const texts = new Map<string, string>();
  if (!markdown.includes("[^")) return { text: markdown, notes: { texts, order: [] } };
  const lines: string[] = [];
  let name: string | null = null;
  let fence: string | null = null;
  for (const line of markdown.split("\n")) {
    const marks = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (marks !== undefined) fence = fence === null ? marks : marks.startsWith(fence) ? null : fence;
    const definition = fence === null ? DEFINITION.exec(line) : null;
    if (definition !== null) {
      name = definition[1] ?? "";
      texts.set(name, definition[2] ?? "");
    } else if (name !== null && fence === null && /^(?: {2,}|\t)\S/.test(line)) texts.set(name, `${texts.get(name) ?? ""} ${line.trim()}`);
    else {
      name = null;
      lines.push(line);
    }
  }
  return { text: lines.join("\n"), notes: { texts, order: [] } };
}
