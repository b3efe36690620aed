import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeHidden, escapeHidden, escapeLine, excerptOf, partsOf, wholeRows } from "../src/parts/visible_text";

interface Case {
  name: string;
  text?: string;
  repeat?: [string, number];
  before?: string;
  after?: string;
  escaped?: string;
  line?: string;
  rows: string[];
  left_out: number;
  notes: string[];
  command_notes: string[];
}

const path = new URL("../../packages/core/tests/tools/visible_text_cases.json", import.meta.url);
const table: { escaped_ranges: [number, number][]; cases: Case[] } = JSON.parse(readFileSync(path, "utf-8"));

function textOf({ text, repeat, before = "", after = "" }: Case): string {
  return text ?? `${before}${repeat === undefined ? "" : repeat[0].repeat(repeat[1])}${after}`;
}

describe("the table that Python passes too", () => {
  test.each(table.cases.map((one): [string, Case] => [one.name, one]))("%s", (_, one) => {
    const text = textOf(one);
    if (one.escaped !== undefined) expect(escapeHidden(text)).toBe(one.escaped);
    if (one.line !== undefined) expect(escapeLine(text)).toBe(one.line);
    expect(excerptOf(text)).toEqual({ rows: one.rows, leftOut: one.left_out });
    expect(describeHidden(text)).toEqual(one.notes);
    expect(describeHidden(text, true)).toEqual(one.command_notes);
  });
});

test("the characters that are escaped", () => {
  const codes = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code !== 10);
  const text = codes.map((code) => `a${String.fromCodePoint(code)}`);
  const escaped = new Set(table.escaped_ranges.flatMap(([first, last]) => codes.filter((code) => code >= first && code <= last)));
  const rows = wholeRows(text.join("\n"));
  expect(codes.filter((code, at) => (rows[at] !== text[at]) !== escaped.has(code))).toEqual([]);
}, 60_000);

test("a row has escapes and text between them", () => {
  expect(partsOf("a⟦\\x1b⟧b⟦\\r⟧")).toEqual([
    { text: "a", isEscape: false },
    { text: "⟦\\x1b⟧", isEscape: true },
    { text: "b", isEscape: false },
    { text: "⟦\\r⟧", isEscape: true },
  ]);
  expect(wholeRows("a\n\u001bb")).toEqual(["a", "⟦\\x1b⟧b"]);
});
