/**
 * Writes untrusted text so that a person who decides on it sees all of it.
 *
 * Nothing is deleted. A character that a screen hides, moves or merges with others is written as an escape between `⟦`
 * and `⟧`; a run of four or more is written once, with its length. These brackets are escaped themselves, so no text can
 * imitate an escape. packages/core/src/heald/tools/visible_text.py does the same; both pass the cases of
 * packages/core/tests/tools/visible_text_cases.json.
 */

import { visibleText as texts } from "../texts/parts";
import { describeLookAlikes } from "./look_alikes";

/** The longest excerpt: characters as they are displayed, and lines. */
export const CHARACTERS = 4_000;
export const LINES = 24;

const C0 = "\\u0000-\\u0008\\u000b-\\u001f";
const HIDDEN =
  "\\u007f-\\u00a0\\u00ad" +
  "\\u034f\\u061c\\u070f\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f\\u2800\\u3000\\u3164" +
  "\\ud800-\\udfff\\ue000-\\uf8ff\\ufdd0-\\ufdef\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff" +
  "\\u{13430}-\\u{13455}\\u{16fe4}\\u{1bca0}-\\u{1bca3}\\u{1d159}\\u{1d173}-\\u{1d17a}" +
  "\\u{e0000}-\\u{10ffff}";
/** Marks that are drawn at the character before them, in any number. */
const MARKS =
  "\\u0300-\\u034e\\u0350-\\u036f\\u0483-\\u0489\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7\\u0610-\\u061a" +
  "\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e4\\u06e7\\u06e8\\u06ea-\\u06ed\\u0951-\\u0954\\u0e31\\u0e34-\\u0e3a" +
  "\\u0e47-\\u0e4e\\u0eb1\\u0eb4-\\u0ebc\\u0ec8-\\u0ece\\u0f71-\\u0f84\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u302a-\\u302d" +
  "\\u3099\\u309a\\ufe20-\\ufe2f\\u{1d165}-\\u{1d169}\\u{1d16d}-\\u{1d172}\\u{1e8d0}-\\u{1e8d6}";
/** Marks at one letter that are not escaped: no language writes more. */
const MAX_MARKS = 3;
const OTHERS = `[⟦⟧]| {64,}|[${MARKS}]+`;
const SPECIAL = new RegExp(`(?<hidden>[${C0}${HIDDEN}])\\k<hidden>*|\\t{16,}|${OTHERS}`, "gu");
const SPECIAL_IN_LINE = new RegExp(`(?<hidden>[\\t\\n${C0}${HIDDEN}])\\k<hidden>*|${OTHERS}`, "gu");
const SPECIAL_IN_EXCERPT = new RegExp(
  `(?<blank>\\n(?:[ \\t]*\\n){4,}|^(?:[ \\t]*\\n){4,})|(?<hidden>[${C0}${HIDDEN}])\\k<hidden>*|\\t{16,}|${OTHERS}`,
  "gu",
);
/** Marks that are drawn over the character before them or around it. */
const OVERLAY = /[\u0334-\u0338\u0488\u0489\u1abe\u20d0-\u20ff]/;
const SAME = /(.)\1*/gsu;
const LETTER = /^\p{L}$/u;
const RIGHT_TO_LEFT =
  /[\u05be-\u05ff\u061b\u061d-\u064a\u0671-\u06d5\u06ee-\u070e\u0710-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const ESCAPE = /⟦[^⟧]*⟧/g;

/** Rows to display, and the number of characters that they leave out. */
export interface Excerpt {
  rows: string[];
  leftOut: number;
}

/** A part of a text as it is displayed, and its length in the text. Only a plain one may be cut. */
interface Piece {
  text: string;
  length: number;
  hidden: number;
  isPlain: boolean;
}

/** The text with hidden characters escaped. Line breaks and tabs stay. */
export function escapeHidden(text: string): string {
  return textOf(piecesOf(text, SPECIAL));
}

/** The text on one line, with line breaks and tabs escaped too. */
export function escapeLine(text: string): string {
  return textOf(piecesOf(text, SPECIAL_IN_LINE));
}

/** The rows of a text. The middle of a long one is left out, and blank lines in a row are counted. */
export function excerptOf(text: string, characters = CHARACTERS, lines = LINES): Excerpt {
  const all = Array.from(text);
  const edge = 4 * characters;
  const isLong = all.length > 2 * edge;
  const first = piecesOf(isLong ? all.slice(0, edge).join("") : text, SPECIAL_IN_EXCERPT);
  if (!isLong && first.reduce((sum, piece) => sum + sizeOf(piece.text), 0) <= characters && breaksOf(textOf(first)) < lines) {
    return { rows: textOf(first).split("\n"), leftOut: 0 };
  }
  const last = isLong ? piecesOf(all.slice(-edge).join(""), SPECIAL_IN_EXCERPT) : first;
  const headCharacters = Math.floor((characters * 2) / 3);
  const headLines = Math.max(Math.floor((lines * 2) / 3), 1);
  const head = take(first, headCharacters, headLines, false);
  const tailLines = Math.max(lines - Math.floor((lines * 2) / 3), 1);
  const tail = take([...last].reverse(), characters - headCharacters, tailLines, true).reverse();
  const middle = all.slice(lengthOf(head), all.length - lengthOf(tail));
  const rows = [...textOf(head).split("\n"), describeCut(middle), ...textOf(tail).split("\n")];
  return { rows, leftOut: middle.length };
}

/** The rows of all of a text. */
export function wholeRows(text: string): string[] {
  return escapeHidden(text).split("\n");
}

/** Notes about characters that deceive a reader. In a command, they are about punctuation as well. */
export function describeHidden(text: string, isCommand = false): string[] {
  const notes: string[] = [];
  const count = piecesOf(text, SPECIAL).reduce((sum, piece) => sum + piece.hidden, 0);
  if (count > 0) notes.push(texts.hiddenCharacters(figure(count), count));
  if (RIGHT_TO_LEFT.test(text)) notes.push(texts.containsRightToLeftLetters);
  const lookAlikes = describeLookAlikes(text, isCommand);
  if (lookAlikes !== "") notes.push(lookAlikes);
  return notes;
}

/** The parts of an escaped row: escapes, and the text between them. */
export function partsOf(row: string): { text: string; isEscape: boolean }[] {
  const parts: { text: string; isEscape: boolean }[] = [];
  let end = 0;
  for (const match of row.matchAll(ESCAPE)) {
    if (match.index > end) parts.push({ text: row.slice(end, match.index), isEscape: false });
    parts.push({ text: match[0], isEscape: true });
    end = match.index + match[0].length;
  }
  if (end < row.length) parts.push({ text: row.slice(end), isEscape: false });
  return parts;
}

function piecesOf(text: string, special: RegExp): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(special)) {
    if (match.index > end) pieces.push(plainPiece(text.slice(end, match.index)));
    end = match.index + match[0].length;
    const run = match[0];
    if (match.groups?.["hidden"] !== undefined) pieces.push(...escapeRun(run, true));
    else if (run.endsWith("\n")) pieces.push(blankLines(run));
    else if ("⟦⟧ \t".includes(run.charAt(0))) pieces.push(...escapeRun(run, false));
    else pieces.push(...escapeMarks(run, characterBefore(text, match.index)));
  }
  if (end < text.length) pieces.push(plainPiece(text.slice(end)));
  return pieces;
}

function characterBefore(text: string, at: number): string {
  return Array.from(text.slice(Math.max(at - 2, 0), at)).at(-1) ?? "";
}

function plainPiece(text: string): Piece {
  return { text, length: sizeOf(text), hidden: 0, isPlain: true };
}

function escapeRun(run: string, isHidden: boolean): Piece[] {
  const count = sizeOf(run);
  const name = escapeName(run);
  if (count >= 4) return [{ text: `⟦${name}×${count}⟧`, length: count, hidden: isHidden ? count : 0, isPlain: false }];
  return Array.from(run, () => ({ text: `⟦${name}⟧`, length: 1, hidden: isHidden ? 1 : 0, isPlain: false }));
}

function escapeMarks(marks: string, base: string): Piece[] {
  const overlay = marks.search(OVERLAY);
  const all = Array.from(marks);
  const fitting = Math.min(MAX_MARKS, overlay < 0 ? all.length : sizeOf(marks.slice(0, overlay)));
  const count = LETTER.test(base) ? fitting : 0;
  const pieces = count > 0 ? [plainPiece(all.slice(0, count).join(""))] : [];
  for (const same of all.slice(count).join("").matchAll(SAME)) pieces.push(...escapeRun(same[0], true));
  return pieces;
}

function blankLines(run: string): Piece {
  const start = run.startsWith("\n") && breaksOf(run) > 4 ? "\n" : "";
  const text = texts.blankLines(start, figure(breaksOf(run) - start.length));
  return { text, length: sizeOf(run), hidden: 0, isPlain: false };
}

/** The pieces at the beginning that fit. Of pieces in reverse order, a plain one is cut at its start. */
function take(pieces: Piece[], characters: number, lines: number, fromEnd: boolean): Piece[] {
  const taken: Piece[] = [];
  for (const piece of pieces) {
    const size = sizeOf(piece.text);
    if (size <= characters && breaksOf(piece.text) < lines) {
      taken.push(piece);
      characters -= size;
      lines -= breaksOf(piece.text);
      continue;
    }
    if (piece.isPlain && characters > 0) {
      const all = Array.from(piece.text);
      const rows = (fromEnd ? all.slice(-characters) : all.slice(0, characters)).join("").split("\n");
      taken.push(plainPiece((fromEnd ? rows.slice(-lines) : rows.slice(0, lines)).join("\n")));
    }
    break;
  }
  return taken;
}

function describeCut(middle: string[]): string {
  const breaks = middle.filter((character) => character === "\n").length;
  const lines = breaks > 0 ? texts.lineBreak(figure(breaks), breaks) : "";
  return texts.characterLeftOut(figure(middle.length), middle.length, lines);
}

function escapeName(text: string): string {
  const code = text.codePointAt(0) ?? 0;
  const short = SHORT[text.charAt(0)];
  if (short !== undefined) return short;
  const hex = code.toString(16);
  if (code < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

function textOf(pieces: Piece[]): string {
  return pieces.map((piece) => piece.text).join("");
}

function lengthOf(pieces: Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function breaksOf(text: string): number {
  return text.split("\n").length - 1;
}

/** Characters, not units of UTF-16. */
function sizeOf(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function figure(count: number): string {
  return count.toLocaleString("en-US");
}
