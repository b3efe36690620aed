import { Conversation, fold, type LogEvent, textOf } from "@heald/client";
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const logs = new URL("./logs/", import.meta.url);
const names = readdirSync(logs).filter((name) => name.endsWith(".jsonl")).map((name) => name.replace(".jsonl", ""));

function eventsOf(name: string): LogEvent[] {
  const lines = readFileSync(new URL(`${name}.jsonl`, logs), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

function statesOf(name: string): Record<string, unknown>[] {
  return JSON.parse(readFileSync(new URL(`${name}.json`, logs), "utf8")) as Record<string, unknown>[];
}

/** The state as Python tells it. */
function foldedState(state: Conversation): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify({
      seq: state.seq,
      status: state.status,
      exchange: state.exchange,
      messages: state.messages,
      tools: Object.fromEntries(state.tools),
      files: Object.fromEntries(state.files),
      approvals: Object.fromEntries(state.approvals),
      questions: Object.fromEntries(state.questions),
      client_calls: Object.fromEntries(state.clientCalls),
      queued: state.queue.size,
      turns: state.turns,
      usage: state.usage,
      cost_usd: state.costUsd,
      error: state.error,
      partial: state.partial,
    }),
  ) as Record<string, unknown>;
}

function folded(events: LogEvent[]): Conversation {
  return events.reduce(fold, new Conversation("s"));
}

test("there are logs", () => expect(names.length).toBeGreaterThanOrEqual(12));

describe.each(names)("%s", (name) => {
  const events = eventsOf(name);

  test("folds to what Python folds it to, all along", () => {
    const states = statesOf(name);
    const state = new Conversation("s");
    let at = 0;
    for (const event of events) {
      fold(state, event);
      if (event.seq % 7 === 0) expect(foldedState(state)).toEqual(states[at++]);
    }
    expect(foldedState(state)).toEqual(states[at]);
    expect(states.length).toBe(at + 1);
  });

  test("what came twice counts once", () => {
    const twice = events.flatMap((event, at) => [event, ...events.slice(Math.max(0, at - 3), at + 1)]);
    const state = folded(twice);
    expect(foldedState(state)).toEqual(foldedState(folded(events)));
    expect(state.transcript.items).toEqual(folded(events).transcript.items);
  });

  test("unknown events change nothing", () => {
    const strange = events.flatMap((event) => [event, { ...event, type: "tomorrow", seq: event.seq + 0.5 } as unknown as LogEvent]);
    expect({ ...foldedState(folded(strange)), seq: 0 }).toEqual({ ...foldedState(folded(events)), seq: 0 });
  });

  test("shows all text that was said, and every call once", () => {
    const { transcript, messages } = folded(events);
    const said = messages.filter((message) => message.role === "assistant").map(textOf).join("");
    const shown = transcript.items.map((item) => (item.kind === "text" && !item.refusal ? item.text : "")).join("");
    expect(shown).toBe(said);
    const keys = transcript.items.map((item) => item.key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test("tool cards are there with the first byte of their arguments", () => {
  const events = eventsOf("files");
  const start = events.findIndex((event) => event.type === "input_json_delta");
  const state = folded(events.slice(0, start + 2));
  const card = state.transcript.items.at(-1);
  expect(card).toMatchObject({ kind: "tool", name: "create_file", phase: "writing" });
  expect(card?.kind === "tool" ? card.json.length : 0).toBeGreaterThan(0);
});

test("drafts grow to the file that was written and fall back when a call fails", () => {
  const state = folded(eventsOf("files"));
  const draft = state.transcript.drafts.files.get("index.html");
  expect(draft?.written).toBe(true);
  expect(draft?.text).toContain("Grüße 👋");
  expect(draft?.text).toContain("Good morning");
  expect([...state.transcript.drafts.files.keys()]).toEqual(["index.html"]);
});

test("what waits for a person survives a reload", () => {
  const state = folded(eventsOf("waiting"));
  const card = state.transcript.items.find((item) => item.kind === "tool");
  expect(state.status).toBe("waiting");
  expect(card).toMatchObject({ phase: "waiting", approval: { name: "change" } });
});

test("rewinding takes back what was said after, and can be undone", () => {
  const state = folded(eventsOf("rewound"));
  const asked = state.transcript.items.filter((item) => item.kind === "user").map((item) => textOf(item.message));
  expect(asked).toEqual(["First.", "Second.", "Third."]);
});

test("a message that was stopped keeps what was seen of it", () => {
  const cut = folded(eventsOf("cancelled")).transcript.items.filter((item) => item.kind === "text" && item.cut);
  expect(cut).toHaveLength(1);
});
