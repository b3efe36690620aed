// @vitest-environment jsdom
import type { Fact } from "@heald/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { act } from "react";
import { MemoryList } from "../src/chat/memory_list";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { mount, SilentSocket } from "./mounted";

let facts: Fact[] = [];
const sent: string[] = [];

beforeEach(() => {
  sent.length = 0;
  SilentSocket.use();
  facts = [
    { id: "p1", text: "My name is Marta.", about: "person", evidence: [{ session: "ses_1", seq: 4 }] },
    { id: "f2", text: "The port is 7431.", about: "project", evidence: [{ session: "ses_2", seq: 9 }], scope: "session" },
  ];
  vi.stubGlobal("fetch", (input: unknown, init?: RequestInit) => {
    const url = String(input instanceof Request ? input.url : input);
    const method = init?.method ?? "GET";
    if (method !== "GET") sent.push(`${method} ${url.slice(url.indexOf("/memory"))} ${String(init?.body ?? "")}`.trim());
    if (method === "DELETE") facts = facts.filter((fact) => !url.endsWith(`/${fact.id}`));
    return Promise.resolve(method === "GET" ? Response.json({ facts, enabled: true }) : Response.json({}));
  });
});

afterEach(() => vi.unstubAllGlobals());

const settled = () => act(() => new Promise((resolve) => setTimeout(resolve, 0)));
const click = (box: HTMLElement, label: string) =>
  act(async () => {
    const buttons = [...box.querySelectorAll("button")];
    buttons.find((button) => button.getAttribute("aria-label") === label || button.textContent === label)?.click();
  });

const fill = (field: HTMLInputElement | null, text: string) =>
  act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, text);
    field?.dispatchEvent(new Event("input", { bubbles: true }));
  });

test("facts are shown with their events, changed, kept, added and removed", async () => {
  const { box } = await mount(
    <LiveContext value={openStore()}>
      <MemoryList session="ses_1" />
    </LiveContext>,
  );
  await settled();
  expect(box.textContent).toContain("My name is Marta. person; event 4");
  expect(box.textContent).toContain("The port is 7431. project; event 9 of ses_2; this conversation only");
  await click(box, "Forget p1");
  await settled();
  expect(box.textContent).not.toContain("Marta");
  await click(box, "Keep");
  await click(box, "Change f2");
  const field = box.querySelector<HTMLInputElement>("input[aria-label='Fact f2']");
  expect(field?.value).toBe("The port is 7431.");
  await fill(box.querySelector<HTMLInputElement>("input[aria-label='New fact']"), "Use tabs.");
  await click(box, "Add");
  await settled();
  expect(sent).toEqual(["DELETE /memory/p1", "PATCH /memory/f2 {}", 'POST /memory {"text":"Use tabs."}']);
});
