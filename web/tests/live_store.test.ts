import { Conversation, fold, HealdClient, LiveStore, type LogEvent } from "@heald/client";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

const NAMES = ["files", "retried", "rewound", "asked", "steered", "queued"];

function eventsOf(name: string): LogEvent[] {
  const lines = readFileSync(join(import.meta.dirname, "logs", `${name}.jsonl`), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

/** The same numbers for the same seed. */
function chances(seed: number): (most: number) => number {
  let state = seed * 2654435761 + 1;
  return (most) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/** A server at the other end: it tells a log as it is asked to, in pieces, and may hang up at any time. */
class Line {
  static OPEN = 1;
  static lines: Line[] = [];
  static log: LogEvent[] = [];
  static end: LogEvent[] | null = null;
  static chance = chances(1);
  static cuts = 0;

  readyState = 0;
  asked: { type: string; session?: string; resume?: number; batch?: boolean; end?: boolean }[] = [];
  onopen: () => void = () => undefined;
  onmessage: (message: { data: string }) => void = () => undefined;
  onclose: (close: { code: number }) => void = () => undefined;

  constructor() {
    Line.lines.push(this);
    setTimeout(() => {
      this.readyState = 1;
      this.onopen();
    }, 1);
  }

  send(text: string): void {
    const asked = JSON.parse(text) as Line["asked"][number];
    this.asked.push(asked);
    if (asked.type === "subscribe") setTimeout(() => this.replay(asked.resume ?? 0), 1);
  }

  close(): void {
    this.readyState = 3;
  }

  private replay(after: number): void {
    const session = Line.log[0]?.session ?? "";
    this.say({ type: "subscribed", session, seq: Line.log.at(-1)?.seq ?? 0 });
    if (Line.end !== null) this.say({ type: "end", session, events: Line.end });
    let rest = Line.log.filter((event) => event.seq > after - Line.chance(3)); // some of it comes twice
    const next = () => {
      if (this.readyState !== 1 || rest.length === 0) return;
      if (Line.cuts > 0 && Line.chance(4) === 0) {
        Line.cuts -= 1;
        this.readyState = 3;
        this.onclose({ code: 1006 });
        return;
      }
      const count = 1 + Line.chance(9);
      const events = rest.slice(0, count);
      rest = rest.slice(count);
      this.say(events.length === 1 ? events[0] : { type: "events", events });
      setTimeout(next, 1);
    };
    next();
  }

  private say(data: unknown): void {
    this.onmessage({ data: JSON.stringify(data) });
  }
}

/** The requests that a server received, and how it answers the next ones. */
const requests: { path: string; body: string }[] = [];
let answer: (path: string) => Promise<Response> = () => Promise.reject(new TypeError("no network"));

function opened(): LiveStore {
  const send = (path: unknown, init?: RequestInit) => {
    requests.push({ path: String(path), body: String(init?.body ?? "") });
    return answer(String(path));
  };
  const client = new HealdClient({ url: "http://heald.test/", WebSocket: Line as unknown as typeof WebSocket, fetch: send as typeof fetch });
  const store = new LiveStore(client);
  store.open();
  return store;
}

function followed(log: LogEvent[]): { live: LiveStore; session: string } {
  Line.log = log;
  const live = opened();
  const session = log[0]?.session ?? "";
  live.follow(session);
  return { live, session };
}

beforeEach(() => {
  vi.useFakeTimers();
  requests.length = 0;
  Line.lines = [];
  Line.end = null;
  Line.cuts = 0;
});

afterEach(() => void vi.useRealTimers());

describe.each(NAMES)("%s", (name) => {
  const log = eventsOf(name);
  const whole = log.reduce(fold, new Conversation(log[0]?.session ?? ""));

  test.each([...Array(12).keys()])("is the same however it came (%d)", async (seed) => {
    Line.chance = chances(seed);
    Line.cuts = seed % 5;
    const { live, session } = followed(log);
    await vi.advanceTimersByTimeAsync(20_000);
    const at = live.at(session);
    expect(at?.complete).toBe(true);
    expect(at?.conversation.events).toEqual(log);
    expect(at?.conversation.transcript.items).toEqual(whole.transcript.items);
    expect(at?.conversation.messages).toEqual(whole.messages);
    expect(Line.lines.length).toBe(1 + (seed % 5) - Line.cuts);
  });
});

test("a session is asked for in batches, behind the last event that was taken", async () => {
  const log = eventsOf("files");
  Line.chance = chances(3);
  Line.cuts = 1;
  const { session } = followed(log);
  await vi.advanceTimersByTimeAsync(20_000);
  const asked = Line.lines.map((line) => line.asked.find((each) => each.session === session));
  expect(asked[0]).toMatchObject({ type: "subscribe", resume: 0, batch: true, end: true });
  expect(asked).toHaveLength(2);
  expect(asked[1]?.resume).toBeGreaterThan(0);
});

test("the end of a long log is shown first, and then all of it", async () => {
  const log = eventsOf("queued");
  const last = log.findLastIndex((event) => event.type === "exchange_request");
  Line.chance = chances(2);
  Line.end = log.slice(last);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(3);
  const end = live.at(session);
  expect(end?.complete).toBe(false);
  expect(end?.conversation.seq).toBe(log.at(-1)?.seq);
  expect(end?.conversation.events[0]?.seq).toBe(log[last]?.seq);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(live.at(session)?.complete).toBe(true);
  expect(live.at(session)?.conversation.events).toEqual(log);
});

test("what comes in a moment is shown at once, together", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  let shown = 0;
  live.subscribe(session, () => (shown += 1));
  await vi.advanceTimersByTimeAsync(10_000);
  const before = shown;
  const more = Array.from({ length: 100 }, (_, at) => ({ ...log[0], seq: log.length + 1 + at, type: "conversation_thinking", data: {} }));
  for (const event of more) Line.lines[0]?.onmessage({ data: JSON.stringify(event) });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(shown).toBe(before + 1);
  expect(live.at(session)?.conversation.seq).toBe(log.length + 100);
});

test("events of agents that work for a session are told apart in one batch", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  const request = { ...log[0], session: "other", seq: 1, type: "exchange_request", data: { message: { role: "user", content: [] }, cause: "call-1" } };
  const own = { ...log[0], seq: log.length + 1, type: "conversation_thinking", data: {} };
  const thinking = { ...own, session: "other", seq: 2 };
  Line.lines[0]?.onmessage({ data: JSON.stringify({ type: "events", events: [request, own, thinking] }) });
  expect(live.delegates.sessionOf("call-1")).toBe("other");
  expect(live.at("other")?.conversation.seq).toBe(2);
  expect(live.at(session)?.conversation.seq).toBe(log.length + 1);
});

/** An event of a session that nobody follows yet. */
function strayOf(session: string, event: LogEvent): LogEvent {
  return { ...event, session };
}

test("a log that was received from its middle is read from its beginning when it is followed", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  const agent = log.map((event) => strayOf("agent", event));
  Line.lines[0]?.onmessage({ data: JSON.stringify({ type: "events", events: agent.slice(20) }) });
  expect(live.at("agent")?.complete).toBe(false);
  expect(live.isWhole("agent")).toBe(false);
  expect(live.isWhole(session)).toBe(true);
  Line.log = agent;
  live.follow("agent");
  await vi.advanceTimersByTimeAsync(10_000);
  const asked = Line.lines[0]?.asked.filter((request) => request.session === "agent");
  expect(asked).toMatchObject([{ type: "subscribe", resume: 0 }]);
  expect(live.at("agent")?.complete).toBe(true);
  expect(live.at("agent")?.conversation.events).toEqual(agent);
});

test("an event that overtakes the subscription of its session leaves no gap", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(1);
  Line.lines[0]?.onmessage({ data: JSON.stringify(log.at(-1)) }); // as the subagent of another session
  expect(live.at(session)?.conversation.seq).toBe(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(live.at(session)?.conversation.events).toEqual(log);
});

test("the events that a session lacks are read, and those that arrive meanwhile are added", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  const agent = log.map((event) => strayOf("agent", event));
  const arrive = (events: LogEvent[]) => Line.lines[0]?.onmessage({ data: JSON.stringify({ type: "events", events }) });
  arrive(agent.slice(10, 12));
  answer = async (path) => {
    const after = Number(new URL(path).searchParams.get("after"));
    if (after === 10) arrive(agent.slice(12));
    return Response.json({ events: after >= 20 ? [] : agent.slice(after, after + 10), last_seq: 0 });
  };
  await Promise.all([live.readMissing("agent"), live.readMissing("agent")]);
  expect(requests.map(({ path }) => new URL(path).searchParams.get("after"))).toEqual(["0", "10", "20"]);
  expect(live.isWhole("agent")).toBe(true);
  expect(live.at("agent")?.conversation.events).toEqual(agent);
});

test("sessions that nobody looks at are forgotten, the oldest first", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  const visit = (name: string) => {
    const leave = live.follow(name);
    leave();
  };
  const unlisten = live.subscribe("watched", () => undefined);
  visit("watched");
  for (let at = 0; at < 40; at += 1) visit(`visited-${at}`);
  const stayed = Array.from({ length: 40 }, (_, at) => `visited-${at}`).filter((name) => live.at(name) !== undefined);
  expect(stayed).toEqual(Array.from({ length: 16 }, (_, at) => `visited-${at + 24}`));
  expect(live.at(session)?.complete).toBe(true);
  expect(live.at("watched")).toBeDefined();
  unlisten();
  expect(live.at("watched")).toBeUndefined();
});

test("a value is the same until it is published, and another one after that", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  const before = live.at(session);
  let published: unknown;
  live.subscribe(session, () => (published = live.at(session)));
  Line.lines[0]?.onmessage({ data: JSON.stringify({ ...log[0], seq: log.length + 1, type: "conversation_thinking", data: {} }) });
  expect(live.at(session)).toBe(before);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(published).not.toBe(before);
  expect(live.at(session)).toBe(published);
  expect(live.at(session)?.conversation).toBe(before?.conversation);
});

test("what changes is published with the next frame, while somebody sees it", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  Line.log = log;
  let isVisible = true;
  const frames: (() => void)[] = [];
  const pacing = {
    isVisible: () => isVisible,
    onFrame(this: unknown, callback: () => void) {
      if (this !== undefined && this !== pacing) throw new TypeError("Illegal invocation"); // as in a browser
      frames.push(callback);
    },
  };
  const client = new HealdClient({ url: "http://heald.test/", WebSocket: Line as unknown as typeof WebSocket });
  const live = new LiveStore(client, { isVisible: pacing.isVisible, onFrame: pacing.onFrame });
  const session = log[0]?.session ?? "";
  let published = 0;
  live.subscribe(session, () => (published += 1));
  live.open();
  live.follow(session);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([published, frames.length]).toEqual([0, 1]);
  frames.pop()?.();
  expect(published).toBe(1);
  isVisible = false;
  Line.lines[0]?.onmessage({ data: JSON.stringify({ ...log[0], seq: log.length + 1, type: "conversation_thinking", data: {} }) });
  await vi.advanceTimersByTimeAsync(1_000);
  expect([published, frames.length]).toEqual([2, 0]);
});

test("the sub-agent of a call is asked for until the server answers, and its log is read", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  answer = () => Promise.reject(new TypeError("no network"));
  let changes = 0;
  const leave = live.delegates.follow("parent", "call-1", () => (changes += 1));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(live.delegates.at("call-1")).toBeUndefined();
  answer = async (path) => {
    if (path.endsWith("/delegates")) return Response.json({ delegates: [{ session: "agent", call_id: "call-1" }] });
    return Response.json({ events: log.slice(Number(new URL(path).searchParams.get("after"))).map((event) => strayOf("agent", event)), last_seq: 0 });
  };
  await vi.advanceTimersByTimeAsync(5_000);
  expect(live.delegates.at("call-1")?.conversation.events).toHaveLength(log.length);
  expect(changes).toBeGreaterThan(0);
  leave();
  const count = requests.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requests).toHaveLength(count);
});

const bodies = () => requests.map(({ body }) => JSON.parse(body) as { text: string; client_request_id: string; when_busy: string });
const accepted = () => Promise.resolve(Response.json({ exchange: "ex_1", request: "ex_1" }));

test("messages go out in their order, one at a time", async () => {
  const live = opened();
  let accept: (() => void)[] = [];
  answer = () => new Promise((resolve) => accept.push(() => void accepted().then(resolve)));
  const outcomes = [live.send("s1", "A"), live.send("s1", "B", "steer"), live.send("s2", "C")];
  expect(bodies().map(({ text }) => text)).toEqual(["A", "C"]);
  accept.forEach((call) => call());
  await vi.advanceTimersByTimeAsync(1);
  accept.forEach((call) => call());
  expect(await Promise.all(outcomes)).toEqual([true, true, true]);
  expect(bodies().map(({ text, when_busy }) => `${text} ${when_busy}`)).toEqual(["A queue", "C queue", "B steer"]);
  expect(live.outbox("s1").entries).toEqual([]);
});

test("a message whose response is lost is sent again with its own id", async () => {
  const live = opened();
  answer = () => Promise.reject(new TypeError("no network"));
  const outcome = live.send("s1", "A");
  await vi.advanceTimersByTimeAsync(1);
  expect(live.outbox("s1").entries).toMatchObject([{ status: "waiting", reason: "The server cannot be reached. It may have been stopped." }]);
  answer = accepted;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await outcome).toBe(true);
  const ids = bodies().map(({ client_request_id: id }) => id);
  expect(ids.length).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe(1);
});

test("a refused message raises the refusal, and the next one is sent", async () => {
  const live = opened();
  answer = () => Promise.resolve(Response.json({ error: { code: "busy", message: "It works." } }, { status: 409 }));
  const refused = live.send("s1", "A", "refuse");
  const next = live.send("s1", "B");
  await expect(refused).rejects.toMatchObject({ code: "busy", message: "It works." });
  answer = accepted;
  await expect(next).rejects.toMatchObject({ code: "busy" });
  expect(await live.send("s1", "C")).toBe(true);
});

test("a message that is removed while it waits is not sent", async () => {
  const live = opened();
  answer = () => Promise.reject(new TypeError("no network"));
  const outcome = live.send("s1", "A");
  await vi.advanceTimersByTimeAsync(1);
  answer = accepted;
  const count = requests.length;
  const [entry] = live.outbox("s1").entries;
  live.outbox("s1").remove(entry?.id ?? 0);
  expect(await outcome).toBe(false);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(requests).toHaveLength(count);
});

test("nothing is published or sent after the store was closed", async () => {
  const log = eventsOf("files");
  Line.chance = chances(1);
  const { live, session } = followed(log);
  await vi.advanceTimersByTimeAsync(10_000);
  answer = () => Promise.reject(new TypeError("no network"));
  void live.send(session, "A");
  let published = 0;
  live.subscribe(session, () => (published += 1));
  await vi.advanceTimersByTimeAsync(1);
  live.close();
  const count = requests.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect([published, requests.length]).toEqual([0, count]);
});
