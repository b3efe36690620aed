// @vitest-environment jsdom
import type { LogEvent } from "@heald/client";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CompareSessions } from "../src/chat/compare_sessions";
import { LiveContext } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { mount, SilentSocket } from "./mounted";

const LOG = readFileSync(join(import.meta.dirname, "logs", "files.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as LogEvent);
const LAST = LOG.at(-1)?.seq ?? 0;

const requests: string[] = [];

beforeEach(() => {
  requests.length = 0;
  vi.useFakeTimers();
  SilentSocket.use();
  vi.stubGlobal("CSS", {});
  vi.stubGlobal("ResizeObserver", class {
    observe() {}
    unobserve() {}
    disconnect() {}
  });
  vi.stubGlobal("fetch", (address: unknown) => {
    if (!String(address).includes("/compare/")) return Promise.resolve(Response.json({ delegates: [] }));
    requests.push(String(address));
    const future = (id: string) => ({ id, title: id, fork: null, models: [], turns: requests.length });
    return Promise.resolve(Response.json({ shared: 0, left: future("left"), right: future("right") }));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("two sessions are compared once they are read, and again when an exchange ends", async () => {
  const { box } = await mount(
    <LiveContext value={openStore()}>
      <CompareSessions left="left" right="right" />
    </LiveContext>,
  );
  const [socket] = SilentSocket.sockets;
  const wait = () => act(() => vi.advanceTimersByTimeAsync(1_000));
  const say = (session: string, events: object[]) => socket?.say({ type: "events", events: events.map((event) => ({ ...event, session })) });
  await socket?.open();
  for (const session of ["left", "right"]) {
    await socket?.say({ type: "subscribed", session, seq: LAST });
    expect(requests).toHaveLength(0);
    await say(session, LOG);
    await wait();
  }
  expect(requests).toHaveLength(1);
  expect(box.textContent).toContain("then 1 turn");
  await say("left", [{ ...LOG.find((event) => event.type === "exchange_response"), seq: LAST + 1 }]);
  await wait();
  expect(requests).toHaveLength(2);
  expect(box.textContent).toContain("then 2 turns");
});
