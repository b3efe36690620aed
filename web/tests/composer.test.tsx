// @vitest-environment jsdom
import { Conversation, type LiveStore } from "@heald/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Attachment } from "../src/chat/attachments";
import { Composer } from "../src/chat/composer";
import { unsentAttachments, unsentText } from "../src/chat/unsent";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { click, type Deferred, deferred, mount, press, SilentSocket, write } from "./mounted";

const sent: { body: string; answer: Deferred<Response> }[] = [];
let store: LiveStore;

beforeEach(() => {
  sent.length = 0;
  localStorage.clear();
  sessionStorage.clear();
  SilentSocket.use();
  store = openStore();
  vi.stubGlobal("fetch", (_: unknown, init?: RequestInit) => {
    const answer = deferred<Response>();
    sent.push({ body: String(init?.body), answer });
    return answer.promise;
  });
});

afterEach(() => vi.unstubAllGlobals());

const attachment = (id: string): Attachment => ({ id, kind: "image", name: `${id}.png`, data: "" });
const accepted = () => Response.json({ exchange: "ex_1", request: "ex_1" });
const composer = (session: string) => (
  <LiveContext value={store}>
    <Composer key={session} session={session} conversation={new Conversation(session)} />
  </LiveContext>
);

test("words that are written while a message is being sent stay", async () => {
  const { box } = await mount(composer("s1"));
  const area = box.querySelector("textarea");
  await write(area, "Build it.");
  await press(area, "Enter");
  expect(sent).toHaveLength(1);
  await write(area, "Build it. And test it.");
  await sent[0]?.answer.resolve(accepted());
  expect(area?.value).toBe("And test it.");
  await press(area, "Enter");
  expect(sent[1]?.body).toContain("And test it.");
  expect(sent[1]?.body).not.toContain("Build it.");
  await sent[1]?.answer.resolve(accepted());
  expect(area?.value).toBe("");
});

test("a message that is sent while another view is open does not come back", async () => {
  const { box, render } = await mount(composer("s2"));
  await write(box.querySelector("textarea"), "Only once.");
  await press(box.querySelector("textarea"), "Enter");
  await render(composer("s3"));
  await render(composer("s2"));
  expect(box.querySelector("textarea")?.value).toBe("Only once.");
  await sent[0]?.answer.resolve(accepted());
  expect(box.querySelector("textarea")?.value).toBe("");
});

test("a message that was not sent stays whole", async () => {
  const { box } = await mount(composer("s4"));
  const area = box.querySelector("textarea");
  await write(area, "Build it.");
  await press(area, "Enter");
  await write(area, "Build it. Now.");
  await sent[0]?.answer.resolve(Response.json({ error: { code: "invalid", message: "No." } }, { status: 400 }));
  expect(area?.value).toBe("Build it. Now.");
});

test("a message that the server did not answer is sent again when it is back, as the same message", async () => {
  const { box } = await mount(composer("s5"));
  const area = box.querySelector("textarea");
  await write(area, "Build it.");
  await press(area, "Enter");
  await sent[0]?.answer.reject(new TypeError("no network"));
  expect(box.querySelector(".queue")?.textContent).toContain("The server cannot be reached.");
  expect(area?.value).toBe("Build it.");
  await SilentSocket.sockets[0]?.open();
  expect(sent.map(({ body }) => body)).toEqual([sent[0]?.body, sent[0]?.body]);
  await sent[1]?.answer.resolve(accepted());
  expect(area?.value).toBe("");
  expect(box.querySelector(".queue")).toBeNull();
});

test("a message that waits for the server is not sent a second time by a view that was left and opened", async () => {
  const { box, render } = await mount(composer("s7"));
  await write(box.querySelector("textarea"), "Only once.");
  await press(box.querySelector("textarea"), "Enter");
  await sent[0]?.answer.reject(new TypeError("no network"));
  await render(composer("s8"));
  await render(composer("s7"));
  await press(box.querySelector("textarea"), "Enter");
  await SilentSocket.sockets[0]?.open();
  await sent[1]?.answer.resolve(accepted());
  expect(sent).toHaveLength(2);
  expect(sent[1]?.body).toBe(sent[0]?.body);
  expect(box.querySelector("textarea")?.value).toBe("");
});

test("a message that was on its way when the page was reloaded is sent again as the same message", async () => {
  const first = await mount(composer("s9"));
  await write(first.box.querySelector("textarea"), "Only once.");
  await press(first.box.querySelector("textarea"), "Enter");
  expect(sent).toHaveLength(1);
  await first.unmount();
  store.close();
  store = openStore(); // the page that is loaded anew, with another view
  await vi.waitFor(() => expect(sent).toHaveLength(2));
  expect(sent[1]?.body).toBe(sent[0]?.body);
  await sent[1]?.answer.resolve(accepted());
  const { box } = await mount(composer("s9"));
  expect(box.querySelector("textarea")?.value).toBe("");
  store.close();
  store = openStore();
  expect(store.outbox("s9").entries).toEqual([]);
  expect(sent).toHaveLength(2);
});

test("a message that waits for the server can be taken back", async () => {
  const { box } = await mount(composer("s6"));
  const area = box.querySelector("textarea");
  await write(area, "Build it.");
  await press(area, "Enter");
  await sent[0]?.answer.reject(new TypeError("no network"));
  await click(box.querySelector('[aria-label="Do not send"]'));
  await SilentSocket.sockets[0]?.open();
  expect(sent).toHaveLength(1);
  expect(area?.value).toBe("Build it.");
});

test("only what was sent is taken out", () => {
  expect(unsentText("abc def", "abc")).toBe("def");
  expect(unsentText("something else", "abc")).toBe("something else");
  const [first, second] = [attachment("a"), attachment("b")];
  expect(unsentAttachments([{ ...first, role: "mobile" }, second], [first])).toEqual([second]);
});
