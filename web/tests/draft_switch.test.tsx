// @vitest-environment jsdom
import { act } from "react";
import { expect, test } from "vitest";
import { canDraft, DraftSwitch } from "../src/studio/draft_switch";
import type { ModelView } from "../src/wire/api";
import { mount } from "./mounted";

const model = (name: string, fields: Partial<ModelView> = {}): ModelView => ({ name, label: name, ...fields }) as ModelView;
const converter = model("local/vision", { text: false, stacks: ["html_css"] });
const paid = model("test/paid");

test("a draft is offered where the converter can make it and a language model polishes it", () => {
  expect(canDraft([converter, paid], [paid], "html_css")).toBe(true);
  expect(canDraft([converter, paid], [converter, paid], "html_css")).toBe(true);
  expect(canDraft([converter, paid], [converter], "html_css")).toBe(false);
  expect(canDraft([converter, paid], [paid], "svelte")).toBe(false);
  expect(canDraft([{ ...converter, available: false }, paid], [paid], "html_css")).toBe(false);
  expect(canDraft([paid], [paid], "html_css")).toBe(false);
});

test("the switch says what it does and reports its state", async () => {
  const changes: boolean[] = [];
  const { box } = await mount(<DraftSwitch checked={false} onChange={(checked) => changes.push(checked)} />);
  const input = box.querySelector("input");
  expect(box.textContent).toBe("Free draft first");
  await act(async () => input?.click());
  expect(changes).toEqual([true]);
});
