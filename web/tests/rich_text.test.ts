// @vitest-environment jsdom
import { expect, test } from "vitest";
import { toDiagram } from "../src/parts/diagram";
import { coloured } from "../src/parts/highlight";
import { toHtml } from "../src/parts/markdown";
import { toMathMl } from "../src/parts/math";

test.each([
  ["The area is $\\pi r^2$.", '<span class="math">$\\pi r^2$</span>'],
  ["Inline \\(a_1 + b\\) here.", '<span class="math">\\(a_1 + b\\)</span>'],
  ["$$\n\\frac{1}{2}\n$$\n", '<div class="math">$$\n\\frac{1}{2}\n$$</div>'],
])("LaTeX is kept: %s", (markdown, html) => {
  expect(toHtml(markdown)).toContain(html);
});

test.each(["It costs $5 and $10 more.", "From US$ 5 to US$ 9.", "Only $5, or a few $ more."])("prices are no math: %s", (markdown) => {
  expect(toHtml(markdown)).not.toContain("math");
});

test.each([
  ["\\frac{a}{b}", "mfrac"],
  ["x_1^2", "msubsup"],
  ["\\sum_{i=1}^{n} i", "munderover"],
  ["\\sqrt[3]{x}", "mroot"],
  ["\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}", "mtable"],
  ["\\left( \\frac{1}{x} \\right)", "mrow"],
  ["\\mathbb{R} \\to \\text{all of it}", "mtext"],
  ["f'(x) = \\lim_{h \\to 0} \\frac{f(x+h)-f(x)}{h}", "munder"],
])("math of %s", (source, name) => {
  const math = toMathMl(source, false);
  expect(math?.querySelector(name)).not.toBeNull();
  expect(math?.querySelector("annotation")?.textContent).toBe(source);
});

test.each(["\\unknowncommand{x}", "{a", "a}", "\\frac{1}", "x^", "\\begin{pmatrix} 1"])("%s is not understood and stays", (source) => {
  expect(toMathMl(source, false)).toBeNull();
});

test("code is coloured and stays the same text", () => {
  const code = 'def add(a, b):  # sum\n    return a + "1" + 2\n';
  const box = document.createElement("code");
  box.append(coloured(code, "python") ?? "");
  expect(box.textContent).toBe(code);
  expect([...box.querySelectorAll("span")].map((part) => `${part.className} ${part.textContent}`)).toEqual([
    "tok-keyword def",
    "tok-call add",
    "tok-comment # sum",
    "tok-keyword return",
    'tok-string "1"',
    "tok-number 2",
  ]);
  expect(coloured("x", "unheard-of")).toBeNull();
});

test("footnotes stand at the end, in the order of their references", () => {
  const html = toHtml("One[^b] and two[^a].\n\n[^a]: The *second*.\n[^b]: The first\n  goes on.\n\n```\n[^c]: code\n```\n");
  const list = html.slice(html.indexOf("footnotes"));
  expect(list.indexOf("The first goes on.")).toBeLessThan(list.indexOf("The <em>second</em>."));
  expect(html.match(/footnote-ref/g)).toHaveLength(2);
  expect(html).toContain("[^c]: code");
});

test("a table is aligned as written", () => {
  expect(toHtml("| a | b |\n|---|--:|\n| 1 | 2 |\n")).toContain('<td align="right">2</td>');
});

test.each([
  ["graph TD\n  A[Start] --> B{Is it?}\n  B -->|yes| C(Go)\n  B -- no --> A\n", ["Start", "Is it?", "Go", "yes", "no"]],
  ["flowchart LR\nA & B --> C -.-> D\nC ==> E((End))\n", ["A", "B", "C", "D", "End"]],
  ["sequenceDiagram\n  participant A as Alice\n  A->>Bob: Hello\n  Bob-->>A: Hi\n  Note over A,Bob: Done\n", ["Alice", "Bob", "Hello", "Hi", "Done"]],
])("a diagram is drawn", (source, words) => {
  const drawing = toDiagram(source);
  const texts = [...(drawing?.querySelectorAll("text") ?? [])].map((text) => text.textContent);
  expect(texts.sort()).toEqual([...words].sort());
});

test.each(["pie title Pets\n", "graph TD\nA --\n", "gantt\n"])("another diagram stays as it was written", (source) => {
  expect(toDiagram(source)).toBeNull();
});
