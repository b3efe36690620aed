// @vitest-environment jsdom
import type { LogEvent } from "@heald/client";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { act } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LiveContext, useDelegate } from "../src/live/hooks";
import { openStore } from "../src/live/store";
import { mount, SilentSocket } from "./mounted";

const LOG = readFileSync(join(import.meta.dirname, "logs", "files.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => ({ ...(JSON.parse(line) as LogEvent), session: "agent" }) as LogEvent);

/** What a server has, and the requests that it received. */
const server = { delegates: [] as { session: string; call_id: string }[], failures: 0, requests: [] as string[] };

beforeEach(() => {
  vi.useFakeTimers();
  SilentSocket.use();
  Object.assign(server, { delegates: [], failures: 0, requests: [] });
  vi.stubGlobal("fetch", (address: unknown) => {
    const url = new URL(String(address), "http://localhost");
    server.requests.push(`${url.pathname.split("/").at(-1)}`);
    if (server.failures > 0) {
      server.failures -= 1;
      return Promise.reject(new TypeError("no network"));
    }
    if (url.pathname.endsWith("/delegates")) return Promise.resolve(Response.json({ delegates: server.delegates }));
    const after = Number(url.searchParams.get("after"));
    return Promise.resolve(Response.json({ events: LOG.slice(after, after + 1000) }));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function Card({ call }: { call: string }) {
  const conversation = useDelegate("parent", call);
  return <p>{conversation === null ? "none" : `${conversation.events.length} events`}</p>;
}

async function opened(...calls: string[]) {
  const live = openStore();
  const cards = (names: string[]) => (
    <LiveContext value={live}>
      {names.map((call) => (
        <Card key={call} call={call} />
      ))}
    </LiveContext>
  );
  const { box, render } = await mount(cards(calls));
  await SilentSocket.sockets[0]?.open();
  const wait = () => act(() => vi.advanceTimersByTimeAsync(10_000));
  const texts = () => [...box.querySelectorAll("p")].map((card) => card.textContent);
  return { live, wait, texts, show: (...names: string[]) => render(cards(names)) };
}

const WHOLE = `${LOG.length} events`;

test("the cards of a session ask once, and show the log of a subagent", async () => {
  server.delegates = [{ session: "agent", call_id: "c1" }];
  const { wait, texts } = await opened("c1", "c2", "c3");
  await wait();
  expect(texts()).toEqual([WHOLE, "none", "none"]);
  expect(server.requests.filter((name) => name === "delegates")).toHaveLength(1);
});

test("a request that failed is repeated", async () => {
  server.delegates = [{ session: "agent", call_id: "c1" }];
  server.failures = 2;
  const { wait, texts } = await opened("c1");
  await wait();
  expect(texts()).toEqual([WHOLE]);
});

test("a subagent that began while another session was open has its card", async () => {
  const { live, wait, texts, show } = await opened("c1");
  const leave = live.follow("parent");
  await wait();
  await act(async () => leave());
  await show();
  server.delegates = [{ session: "agent", call_id: "c2" }];
  await act(async () => void live.follow("parent"));
  await show("c1", "c2");
  await wait();
  expect(texts()).toEqual(["none", WHOLE]);
});

test("a subagent that is heard of by its events alone has its card at once", async () => {
  const { wait, texts } = await opened("c1");
  await wait();
  const request = { ...LOG[0], data: { ...LOG[0]?.data, cause: "c1" } };
  await SilentSocket.sockets[0]?.say({ type: "events", events: [request, ...LOG.slice(1)] });
  await wait();
  expect(texts()).toEqual([WHOLE]);
  expect(server.requests).not.toContain("log");
});

test("a log that was received from its middle is completed from the server", async () => {
  server.delegates = [{ session: "agent", call_id: "c1" }];
  const { live, wait, texts, show } = await opened();
  await SilentSocket.sockets[0]?.say({ type: "events", events: LOG.slice(15) });
  expect(live.isWhole("agent")).toBe(false);
  await show("c1");
  await wait();
  expect(texts()).toEqual([WHOLE]);
  expect(live.isWhole("agent")).toBe(true);
});
