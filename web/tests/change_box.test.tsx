// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { ChangeBox } from "../src/studio/change_box";
import { ApiError } from "../src/wire/rest";
import { click, type Deferred, deferred, type Mounted, mount, press, SilentSocket, write } from "./mounted";

let projects = 0;
const sent: { text: string; version: string; answer: Deferred<string> }[] = [];

beforeEach(() => {
  sent.length = 0;
  localStorage.clear();
  sessionStorage.clear();
  SilentSocket.use();
});

afterEach(() => vi.unstubAllGlobals());

/** A change box whose project a test moves on by hand. */
async function opened(): Promise<Mounted & { show(version: string, busy: boolean): Promise<void> }> {
  const project = `p${(projects += 1)}`;
  const live = openStore();
  const element = (version: string, busy: boolean) => (
    <LiveContext value={live}>
      <ChangeBox
        project={project}
        version={version}
        session="s1"
        selected={null}
        onClear={() => undefined}
        busy={busy}
        away={false}
        simple={false}
        usual={1}
        models={[]}
        inherited={["scripted/quick"]}
        chosenModels={[]}
        onModels={() => undefined}
        usage={{}}
        onSend={(prompt) => {
          const answer = deferred<string>();
          sent.push({ text: prompt.text ?? "", version, answer });
          return answer.promise;
        }}
      />
    </LiveContext>
  );
  const mounted = await mount(element("v1", true));
  return { ...mounted, show: (version, busy) => mounted.render(element(version, busy)) };
}

async function say(box: HTMLElement, ...texts: string[]): Promise<void> {
  const area = box.querySelector("textarea");
  for (const text of texts) {
    await write(area, text);
    await press(area, "Enter");
  }
}

const waiting = (box: HTMLElement) => [...box.querySelectorAll(".queue li")].map((row) => row.textContent);
const button = (box: HTMLElement, label: string, at = 0) => box.querySelectorAll(`.queue [aria-label="${label}"]`)[at] ?? null;

test("changes are sent one by one, each to the version that the one before it made", async () => {
  const { box, show } = await opened();
  await say(box, "A", "B");
  expect(sent).toHaveLength(0);
  await show("v1", false);
  await show("v1", false);
  expect(sent.map(({ text }) => text)).toEqual(["A"]);
  await sent[0]?.answer.resolve("v2");
  await show("v1", false); // the version that A made is not shown yet
  expect(sent).toHaveLength(1);
  await show("v2", true);
  expect(sent).toHaveLength(1);
  await show("v2", false);
  expect(sent.map(({ text, version }) => `${text} ${version}`)).toEqual(["A v1", "B v2"]);
  await sent[1]?.answer.resolve("v3");
  expect(waiting(box)).toEqual([]);
});

test("a change that fails stays with those behind it, and is sent again", async () => {
  const { box, show } = await opened();
  await say(box, "A", "B", "C");
  await show("v1", false);
  await sent[0]?.answer.reject(new ApiError(503, "overloaded", "The server is full."));
  expect(waiting(box)).toEqual(["Not sentAThe server is full.", "NextB", "NextC"]);
  await show("v1", false);
  expect(sent).toHaveLength(1);
  await click(button(box, "Send this change again"));
  expect(sent.map(({ text }) => text)).toEqual(["A", "A"]);
});

test("a failed change goes back into the box, before what was written meanwhile", async () => {
  const { box, show } = await opened();
  await show("v1", false);
  await say(box, "A");
  await write(box.querySelector("textarea"), "and more");
  await sent[0]?.answer.reject(new ApiError(400, "invalid", "No."));
  expect(box.querySelector("textarea")?.value).toBe("and more");
  await click(button(box, "Edit this change"));
  expect(box.querySelector("textarea")?.value).toBe("A\nand more");
  expect(waiting(box)).toEqual([]);
});

test("a change that is removed while the one before it is being sent is not sent", async () => {
  const { box, show } = await opened();
  await say(box, "A", "B", "C");
  await show("v1", false);
  await click(button(box, "Remove this change")); // A is on its way and has no such button
  expect(waiting(box)).toEqual(["SendingA", "NextC"]);
  await sent[0]?.answer.resolve("v2");
  await show("v2", false);
  expect(sent.map(({ text }) => text)).toEqual(["A", "C"]);
});

test("a view that is left and opened while a change is being sent does not send it twice", async () => {
  const { box, show, render } = await opened();
  await say(box, "A");
  await show("v1", false);
  await render(null);
  await show("v1", false);
  expect(sent).toHaveLength(1);
  await sent[0]?.answer.resolve("v2");
  expect(waiting(box)).toEqual([]);
});
