/** The values of a design.md are read and changed in its text, and everything else of it stays. */

import { expect, test } from "vitest";
import { designFiles } from "../src/studio/design/design_files";
import { designLines, withoutLine, withToken, withValue } from "../src/studio/design/design_lines";

const TEXT = "# Acme\n\nRead from `app.css`.\n\n## Colours\n\n- `brand`: #0f766e\n- `brand` (dark): #5eead4\n\n## Components\n\n- `Button` (ui/button.tsx): size\n";

test("values are those below the headings of their kinds", () => {
  expect(designLines(TEXT)).toEqual([
    { line: 6, kind: "color", name: "brand", mode: "", value: "#0f766e" },
    { line: 7, kind: "color", name: "brand", mode: "dark", value: "#5eead4" },
  ]);
});

test("a value is changed, removed and added in its place", () => {
  expect(withValue(TEXT, 7, "red")).toBe(TEXT.replace("#5eead4", "red"));
  expect(withValue(TEXT, 7, "$&")).toBe(TEXT.replace("#5eead4", "$$&"));
  expect(withoutLine(TEXT, 6)).toBe(TEXT.replace("- `brand`: #0f766e\n", ""));
  expect(withToken(TEXT, "color", "sea", "blue")).toBe(TEXT.replace("#5eead4\n", "#5eead4\n- `sea`: blue\n"));
  expect(designLines(withToken(TEXT, "radius", "card", "4px")).at(-1)).toMatchObject({ kind: "radius", name: "card", value: "4px" });
  expect(designLines(withToken("", "font", "sans", "Inter"))).toHaveLength(1);
});

test("of a folder only the files that describe a design are sent", async () => {
  const names = ["design.md", "README.md", "node_modules/x/a.css", "src/a.css", "src/logo.png", "components/Card.vue", "tailwind.config.ts", "src/main.ts"];
  const fileAt = (name: string, path: string) => Object.defineProperty(new File([name], name), "webkitRelativePath", { value: path });
  const files = names.map((name) => fileAt(name, `site/${name}`));
  expect(Object.keys(await designFiles(files))).toEqual(["design.md", "src/a.css", "components/Card.vue", "tailwind.config.ts"]);
  expect(await designFiles([fileAt("rules.txt", "")])).toEqual({ "rules.txt": "rules.txt" });
});
