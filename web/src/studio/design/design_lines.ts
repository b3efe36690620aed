/** The values of a design.md: lines of lists below the heading of their kind. They are changed in the text itself. */

import type { DesignToken } from "@heald/client";

export type TokenKind = DesignToken["kind"];

export interface DesignLine {
  /** The number of its line, counted from 0. */
  line: number;
  kind: TokenKind;
  name: string;
  mode: string;
  value: string;
}

export const KINDS: readonly { kind: TokenKind; heading: string; example: string }[] = [
  { kind: "color", heading: "Colours", example: "#0f766e" },
  { kind: "font", heading: "Fonts", example: "Inter, sans-serif" },
  { kind: "size", heading: "Font sizes", example: "1.125rem" },
  { kind: "space", heading: "Spacing", example: "8px" },
  { kind: "radius", heading: "Radii", example: "12px" },
];

const WORDS: readonly [TokenKind, RegExp][] = [
  ["color", /colou?r|palette/i],
  ["radius", /radi|rounded|corner/i],
  ["space", /spac|padding|margin/i],
  ["size", /size|scale|typograph/i],
  ["font", /font|famil/i],
];
const HEADING = /^#{1,6}\s+(.+?)\s*$/;
const LINE = /^(\s*[-*]\s+`([^`]+)`(?:\s*\(([\w -]+)\))?\s*:\s*)(.+?)\s*$/;

export function designLines(text: string): DesignLine[] {
  let kind: TokenKind | undefined;
  const lines: DesignLine[] = [];
  text.split("\n").forEach((words, line) => {
    const heading = HEADING.exec(words)?.[1];
    if (heading !== undefined) kind = WORDS.find(([, pattern]) => pattern.test(heading))?.[0];
    const [, , name, mode, value] = LINE.exec(words) ?? [];
    if (kind !== undefined && name !== undefined && value !== undefined) lines.push({ line, kind, name, mode: mode?.trim() ?? "", value });
  });
  return lines;
}

export function withValue(text: string, line: number, value: string): string {
  return changed(text, line, (words) => [words.replace(LINE, (_, head: string) => head + (value.trim() === "" ? "?" : value.replaceAll("\n", " ")))]);
}

export function withoutLine(text: string, line: number): string {
  return changed(text, line, () => []);
}

/** The text with a value behind the last one of its kind, or below a new heading. */
export function withToken(text: string, kind: TokenKind, name: string, value: string): string {
  const entry = `- \`${name.trim().replaceAll("`", "")}\`: ${value.trim()}`;
  const last = designLines(text).findLast((line) => line.kind === kind);
  if (last !== undefined) return changed(text, last.line, (words) => [words, entry]);
  const heading = KINDS.find((candidate) => candidate.kind === kind)?.heading ?? kind;
  const head = text.trim() === "" ? "# Design system" : text.trimEnd();
  return `${head}\n\n## ${heading}\n\n${entry}\n`;
}

function changed(text: string, line: number, change: (words: string) => string[]): string {
  return text
    .split("\n")
    .flatMap((words, number) => (number === line ? change(words) : [words]))
    .join("\n");
}
