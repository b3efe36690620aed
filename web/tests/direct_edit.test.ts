import { expect, test } from "vitest";
import { faultOf } from "../src/studio/css_value";
import { asPressedKey } from "../src/studio/preview_keys";

const supports = (property: string, value: string) => property === "color" && value === "teal";

test("a value that CSS knows has no fault, and neither has an empty one", () => {
  expect(faultOf("color", " teal ", supports)).toBe("");
  expect(faultOf("padding", " ", supports)).toBe("");
});

test("another value is named in a sentence", () => {
  expect(faultOf("font-size", " huge ", supports)).toBe("“huge” is not a font size, such as 18px or 1.2rem.");
});

test("only keys of shortcuts are taken from a preview", () => {
  expect(asPressedKey({ key: "u", code: "KeyU" })).toMatchObject({ key: "u", code: "KeyU", ctrlKey: false });
  expect(asPressedKey({ key: "K", metaKey: true })).toMatchObject({ metaKey: true });
  for (const said of [{}, { key: "Enter" }, { key: " " }, { key: "w", ctrlKey: true }, { key: ["u", "u"] }, { key: "ctrl" }]) expect(asPressedKey(said)).toBeNull();
});
