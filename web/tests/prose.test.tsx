// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import { blocksOf } from "../src/parts/blocks";
import { Prose } from "../src/parts/prose";
import { mount } from "./mounted";

const parsed = vi.hoisted(() => ({ characters: 0 }));
vi.mock("../src/parts/markdown", async (original) => {
  const { toHtml } = await original<typeof import("../src/parts/markdown")>();
  return {
    toHtml: (text: string) => {
      parsed.characters += text.length;
      return toHtml(text);
    },
  };
});
const { toHtml } = await vi.importActual<typeof import("../src/parts/markdown")>("../src/parts/markdown");

beforeEach(() => {
  parsed.characters = 0;
});

const PARAGRAPH = "A paragraph with **words** and `code` that is about as long as one usually is.\n\n";

/** Characters that are parsed while an answer arrives paragraph by paragraph, for each of its characters. */
async function costOf(paragraphs: number): Promise<number> {
  parsed.characters = 0;
  const { render } = await mount(null);
  for (let count = 1; count <= paragraphs; count += 1) await render(<Prose text={PARAGRAPH.repeat(count)} />);
  return parsed.characters / (PARAGRAPH.length * paragraphs);
}

test("the cost of an answer grows with its length, not with the square of it", async () => {
  const [short, long] = [await costOf(5), await costOf(40)];
  expect(long).toBeLessThanOrEqual(short * 1.1);
});

test.each([
  ["paragraphs and headings", "# One\n\nA text.\n\n## Two\n\nAnother.\n"],
  ["a list with blank lines", "Before.\n\n- a\n\n- b\n\n  more of b\n\n1. c\n\n2. d\n\nAfter.\n"],
  ["code with blank lines", "Before.\n\n```ts\nconst a = 1;\n\n# no heading\n\n[key: string]: number\n```\n\nAfter.\n"],
  ["a code block inside of a longer fence", "````md\n```\n\ntext\n\n```\n\nstill code\n````\n\nAfter.\n"],
  ["tildes within backticks", "```\n~~~\n\nstill code\n```\n\nAfter.\n"],
  ["indented code", "Before.\n\n    code\n\n    more code\n\nAfter.\n"],
  ["links that are defined at the end", "See [this][1].\n\nMore.\n\n[1]: https://example.com\n"],
  ["a table and a quote", "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n> another\n\n---\n\nEnd."],
  ["a bold beginning", "One.\n\n**Two** words.\n\n*Three*.\n\n-5 degrees.\n"],
])("%s look the same in parts", (_, text) => {
  const blocks = blocksOf(text);
  expect(blocks.join("")).toBe(text);
  expect(blocks.map(toHtml).join("")).toBe(toHtml(text));
});

test.each([
  ["a list", "First.\n\n- one\n\n- two\n\nLast.\n"],
  ["code", "First.\n\n```\na\n\nb\n```\n\nLast.\n"],
])("a block of %s that is complete does not change while the text grows", (_, text) => {
  let before: string[] = [];
  for (let length = 1; length <= text.length; length += 1) {
    const blocks = blocksOf(text.slice(0, length));
    expect(blocks.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    before = blocks;
  }
});
