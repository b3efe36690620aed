import { expect, test } from "vitest";
import { sourcePaths, sourceText } from "./sources";

/** Sheets for all of the page: they may style elements without a class. */
const SHARED = ["tokens", "base", "controls", "parts"];
const STEPS = /^(?:from|to|[\d.]+%)$/;

/** The selectors of a sheet, each by itself. */
function selectorsOf(sheet: string): string[] {
  const rules = sourceText(sheet).replaceAll(/\/\*[\s\S]*?\*\//g, "").matchAll(/([^{};]+)\{/g);
  const preludes = [...rules].map(([, prelude = ""]) => prelude.trim()).filter((prelude) => !prelude.startsWith("@"));
  return preludes.flatMap((prelude) => prelude.split(/,(?![^(]*\))/)).map((selector) => selector.trim());
}

const sheets = new Map(sourcePaths(".css").map((path) => [path.replace(/^style\/|\.css$/g, ""), selectorsOf(path)]));
const firstClass = (selector: string) => /\.([a-z][\w-]*)/i.exec(selector)?.[1] ?? "";

test("a class is styled by the sheet of its component alone", () => {
  const owners = new Map<string, Set<string>>();
  for (const [sheet, selectors] of sheets) {
    for (const name of selectors.map(firstClass)) if (name !== "") owners.set(name, (owners.get(name) ?? new Set()).add(sheet));
  }
  expect(owners.size).toBeGreaterThan(200);
  expect([...owners].filter(([, names]) => names.size > 1).map(([name, names]) => `.${name}: ${[...names].join(", ")}`)).toEqual([]);
});

test("the sheet of a component styles no element outside of it", () => {
  const stray = [...sheets].flatMap(([sheet, selectors]) => {
    if (SHARED.includes(sheet)) return [];
    return selectors.filter((selector) => !/^(?:[a-z]+)?[.[]/.test(selector) && !STEPS.test(selector)).map((selector) => `${sheet}: ${selector}`);
  });
  expect(stray).toEqual([]);
});
