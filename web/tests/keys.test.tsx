// @vitest-environment jsdom
import { act, useState } from "react";
import { expect, test } from "vitest";
import { forCharacter, useKeys, withControl } from "../src/parts/keys";
import { mount } from "./mounted";

const pressed: string[] = [];

function Keys({ isActive = true }: { isActive?: boolean }) {
  const [count, setCount] = useState(0);
  useKeys({ ...forCharacter("u", () => void pressed.push("u")), ...forCharacter("U", () => void pressed.push("U")), ...forCharacter("?", () => void pressed.push("?")) }, { isActive });
  useKeys({ ...withControl("k", () => void pressed.push("k")), Escape: () => false }, { typing: true, dialogs: true });
  useKeys({
    Digit1: () => {
      setCount(count + 1);
      pressed.push(`${count}`);
    },
  });
  return <input />;
}

/** Press a key; returns whether the page used it. */
async function press(key: string, init: KeyboardEventInit = {}, target: EventTarget = document): Promise<boolean> {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...init });
  await act(async () => target.dispatchEvent(event));
  return event.defaultPrevented;
}

test("keys are told apart by their modifiers, on all keyboards", async () => {
  pressed.length = 0;
  const { render } = await mount(<Keys />);
  await press("u");
  await press("U", { shiftKey: true });
  await press("u", { altKey: true });
  await press("u", { ctrlKey: true });
  await press("?");
  await press("?", { shiftKey: true });
  await press("k", { metaKey: true });
  await press("K", { ctrlKey: true });
  await press("k");
  await press("&", { code: "Digit1" });
  await press("1", { code: "Digit1" }); // the handler is that of the last rendering
  expect(pressed).toEqual(["u", "U", "?", "?", "k", "k", "0", "1"]);
  await render(<Keys isActive={false} />);
  await press("u");
  expect(pressed).toHaveLength(8);
  await render(null);
  await press("k", { ctrlKey: true });
  expect(pressed).toHaveLength(8);
});

test("plain keys are left alone while somebody writes, in dialogs, and where they were used", async () => {
  pressed.length = 0;
  const { box } = await mount(<Keys />);
  const field = box.querySelector("input") as HTMLInputElement;
  expect(await press("u", {}, field)).toBe(false);
  expect(await press("k", { ctrlKey: true }, field)).toBe(true);
  const dialog = box.appendChild(document.createElement("dialog"));
  dialog.setAttribute("open", "");
  expect(await press("u")).toBe(false);
  expect(await press("k", { ctrlKey: true })).toBe(true);
  dialog.remove();
  box.addEventListener("keydown", (event) => event.preventDefault(), { once: true });
  await press("u", {}, box);
  expect(await press("Escape")).toBe(false);
  expect(pressed).toEqual(["k", "k"]);
});
