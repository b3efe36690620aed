// @vitest-environment jsdom
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Live } from "../src/live/live";
import { paced } from "../src/live/hooks";
import { Conversation, fold } from "../src/log/conversation";
import type { LogEvent } from "../src/log/event";
import { openSocket } from "../src/wire/socket";

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

function followed(log: LogEvent[]): { live: Live; session: string } {
  Line.log = log;
  const live = new Live(openSocket());
  const session = log[0]?.session ?? "";
  live.follow(session);
  return { live, session };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("WebSocket", Line);
  Line.lines = [];
  Line.end = null;
  Line.cuts = 0;
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

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
  live.listen(session, () => (shown += 1));
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
  expect(live.delegateOf("call-1")).toBe("other");
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
  const cursors: number[] = [];
  const read = async (_: string, after: number) => {
    cursors.push(after);
    if (after >= 20) return [];
    if (after === 10) arrive(agent.slice(12));
    return agent.slice(after, after + 10);
  };
  await Promise.all([live.readMissing("agent", read), live.readMissing("agent", read)]);
  expect(cursors).toEqual([0, 10, 20]);
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
  const unlisten = live.listen("watched", () => undefined);
  visit("watched");
  for (let at = 0; at < 40; at += 1) visit(`visited-${at}`);
  const stayed = Array.from({ length: 40 }, (_, at) => `visited-${at}`).filter((name) => live.at(name) !== undefined);
  expect(stayed).toEqual(Array.from({ length: 16 }, (_, at) => `visited-${at + 24}`));
  expect(live.at(session)?.complete).toBe(true);
  expect(live.at("watched")).toBeDefined();
  unlisten();
  expect(live.at("watched")).toBeUndefined();
});

describe("pace", () => {
  test("calls at once, then seldom, and never forgets the last", () => {
    const calls: number[] = [];
    const { want } = paced(() => calls.push(performance.now()), 100);
    const start = performance.now();
    for (let at = 0; at < 25; at += 1) {
      want();
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(500);
    expect(calls.map((time) => time - start)).toEqual([0, 100, 200, 300]);
  });

  test("is over when it is stopped", () => {
    const call = vi.fn();
    const { want, stop } = paced(call, 100);
    want();
    want();
    stop();
    vi.advanceTimersByTime(1_000);
    expect(call).toHaveBeenCalledTimes(1);
  });
});
