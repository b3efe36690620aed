// @vitest-environment jsdom
import { Suspense } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Boundary } from "../src/parts/boundary";
import { lazyPart } from "../src/parts/lazy_part";
import { mount } from "./mounted";

const reloadPage = vi.hoisted(() => vi.fn());
vi.mock("../src/parts/reload", () => ({ reloadPage }));

let isServed = true;

beforeEach(() => {
  isServed = true;
  reloadPage.mockReset();
  sessionStorage.clear();
  vi.stubGlobal("fetch", () => (isServed ? Promise.resolve(new Response("", { status: 200 })) : Promise.reject(new TypeError("no network"))));
});

afterEach(() => vi.unstubAllGlobals());

function Item({ text }: { text: string }) {
  if (text === "broken") throw new RangeError("a date out of range");
  return <p>{text}</p>;
}

test("an item that throws leaves the others, and is tried anew when it changes", async () => {
  const list = (...texts: string[]) =>
    texts.map((text, at) => (
      <Boundary key={at} level="item" resetKey={text}>
        <Item text={text} />
      </Boundary>
    ));
  const { box, render } = await mount(list("first", "broken", "third"));
  expect(box.textContent).toContain("first");
  expect(box.textContent).toContain("third");
  const alert = box.querySelector('[role="alert"]');
  expect(alert?.textContent).toContain("This item cannot be shown");
  expect(alert?.querySelector("pre")?.textContent).toMatch(/RangeError: a date out of range[^]*browser: [^]*at Item/);
  await render(list("first", "mended", "third"));
  expect(box.querySelector('[role="alert"]')).toBeNull();
  expect(box.textContent).toContain("mended");
});

test("a view that throws offers a reload and the report", async () => {
  const { box } = await mount(
    <Boundary level="view">
      <Item text="broken" />
    </Boundary>,
  );
  const buttons = [...box.querySelectorAll("button")].map((button) => button.textContent);
  expect(buttons).toEqual(["Reload the page", "Copy the report"]);
  box.querySelector("button")?.click();
  expect(reloadPage).toHaveBeenCalledOnce();
});

async function shown(load: () => Promise<React.ComponentType>): Promise<string> {
  const Part = lazyPart("code", load);
  const { box } = await mount(
    <Boundary level="view">
      <Suspense fallback="Loading…">
        <Part />
      </Suspense>
    </Boundary>,
  );
  await vi.waitFor(() => expect(box.textContent !== "Loading…" || reloadPage.mock.calls.length > 0).toBe(true));
  return box.textContent ?? "";
}

const missing = () => Promise.reject(new TypeError("Failed to fetch dynamically imported module"));

test("a part that is gone after an upgrade reloads the page once, then says so", async () => {
  expect(await shown(missing)).toBe("Loading…");
  expect(reloadPage).toHaveBeenCalledTimes(1);
  expect(await shown(missing)).toContain("could not be loaded, although the page is up to date");
  expect(reloadPage).toHaveBeenCalledTimes(1);
});

test("a part that was loaded may reload the page at the next upgrade", async () => {
  await shown(missing);
  expect(await shown(() => Promise.resolve(() => <p>here</p>))).toBe("here");
  await shown(missing);
  expect(reloadPage).toHaveBeenCalledTimes(2);
});

test("the page is not reloaded while the server is away", async () => {
  isServed = false;
  expect(await shown(missing)).toContain("the server cannot be reached");
  expect(reloadPage).not.toHaveBeenCalled();
});
