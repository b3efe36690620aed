// @vitest-environment jsdom
import { act } from "react";
import { expect, test } from "vitest";
import { Tree } from "../src/parts/tree";
import { click, mount, press } from "./mounted";

const PATHS = ["readme.md", "src/app.ts", "src/parts/a.ts", "src/parts/b.ts", ...Array.from({ length: 27 }, (_, at) => `docs/page_${String(at).padStart(2, "0")}.md`)];

async function tree(chosen: string | null) {
  const opened: string[] = [];
  const { box } = await mount(<Tree label="Files" paths={PATHS} chosen={chosen} onChoose={(path) => opened.push(path)} />);
  const items = () => [...box.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const stops = () => items().filter((item) => item.tabIndex === 0).map((item) => item.textContent);
  const type = async (...keys: string[]) => {
    for (const key of keys) await press(document.activeElement, key);
  };
  return { items, stops, type, opened };
}

test("a tree is one tab stop: the chosen file", async () => {
  const { items, stops } = await tree("src/parts/b.ts");
  expect(items()).toHaveLength(34);
  expect(stops()).toEqual(["b.ts"]);
});

test("arrow keys move through a tree, open and close its folders", async () => {
  const { items, stops, type, opened } = await tree(null);
  expect(stops()).toEqual(["docs"]);
  await act(async () => items()[0]?.focus());
  await type("ArrowLeft");
  expect(items().map((item) => item.textContent)).toEqual(["docs", "src", "parts", "a.ts", "b.ts", "app.ts", "readme.md"]);
  await type("ArrowDown", "ArrowRight", "ArrowRight");
  expect(document.activeElement?.textContent).toBe("a.ts");
  expect(stops()).toEqual(["a.ts"]);
  await click(document.activeElement);
  expect(opened).toEqual(["src/parts/a.ts"]);
  await type("ArrowLeft");
  expect(document.activeElement?.textContent).toBe("parts");
  await type("End");
  expect(document.activeElement?.textContent).toBe("readme.md");
  await type("Home", "ArrowRight");
  expect(items()).toHaveLength(34);
});

test("a tree whose folder is closed over the focus keeps a tab stop", async () => {
  const { items, stops } = await tree("src/parts/b.ts");
  await click(items().find((item) => item.textContent === "src") ?? null);
  expect(stops()).toHaveLength(1);
});
