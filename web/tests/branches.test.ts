import { Conversation, type LogEvent } from "@heald/client";
import { expect, test } from "vitest";

/** A log of exchanges and rewinds; each exchange has a request, a message and an end. */
class Log {
  readonly conversation = new Conversation("s");
  private seq = 0;

  add(type: string, data: object, exchange: string | null = null): number {
    this.seq += 1;
    this.conversation.feed({ seq: this.seq, id: "", session: "s", exchange, type, layer: "state", time: this.seq, epoch: 0, data } as unknown as LogEvent);
    return this.seq;
  }

  /** Returns the event of the request. */
  ask(text: string): number {
    const exchange = `x${this.seq}`;
    const request = this.add("exchange_request", {}, exchange);
    this.add("user_message", { message: { role: "user", content: [{ type: "text", text }] } }, exchange);
    this.add("exchange_response", { status: "completed", turns: 1, usage: {}, duration_ms: 1, cost_usd: 0 }, exchange);
    return request;
  }

  rewind(seq: number): void {
    this.add("session_rewound", { seq });
  }

  get said(): string[] {
    return this.conversation.messages.map((message) => (message.content[0] as { text: string }).text);
  }
}

test("a request that was never regenerated has no branches", () => {
  const log = new Log();
  const first = log.ask("a");
  log.ask("b");
  expect(log.conversation.branchesAt(first)).toBeNull();
  expect(log.conversation.branchesBehind()).toBeNull();
});

test("rewinding to the tip of a branch brings it back with all that followed", () => {
  const log = new Log();
  log.ask("a");
  log.ask("b");
  log.rewind(0);
  const again = log.ask("a again");
  expect(log.said).toEqual(["a again"]);
  const crossing = log.conversation.branchesAt(again);
  expect(crossing).toMatchObject({ number: 2, count: 2, next: null });
  log.rewind(crossing?.previous ?? -1);
  expect(log.said).toEqual(["a", "b"]);
  expect(log.conversation.branchesAt(1)).toMatchObject({ number: 1, count: 2, previous: null });
  log.rewind(log.conversation.branchesAt(1)?.next ?? -1);
  expect(log.said).toEqual(["a again"]);
});

test("what is said in a branch after it was brought back belongs to it", () => {
  const log = new Log();
  const first = log.ask("a");
  log.rewind(0);
  const second = log.ask("a again");
  log.rewind(log.conversation.branchesAt(second)?.previous ?? -1);
  log.ask("b");
  log.rewind(log.conversation.branchesAt(first)?.next ?? -1);
  expect(log.said).toEqual(["a again"]);
  log.rewind(log.conversation.branchesAt(second)?.previous ?? -1);
  expect(log.said).toEqual(["a", "b"]);
});

test("branches of a later request are counted apart from those of an earlier one", () => {
  const log = new Log();
  const first = log.ask("a");
  const end = 3;
  log.ask("b");
  log.rewind(end);
  const second = log.ask("b again");
  log.rewind(end);
  const third = log.ask("b once more");
  expect(log.conversation.branchesAt(first)).toBeNull();
  expect(log.conversation.branchesAt(second)).toMatchObject({ number: 2, count: 3 });
  expect(log.conversation.branchesAt(third)).toMatchObject({ number: 3, count: 3, next: null });
});

test("a conversation that was only rewound knows what it went on with", () => {
  const log = new Log();
  log.ask("a");
  log.ask("b");
  log.rewind(3);
  expect(log.said).toEqual(["a"]);
  log.rewind(log.conversation.branchesBehind()?.previous ?? -1);
  expect(log.said).toEqual(["a", "b"]);
  expect(log.conversation.branchesBehind()).toBeNull();
});

test("an attempt is waited for until it begins", () => {
  const log = new Log();
  log.add("exchange_request", {}, "x");
  log.add("retry_scheduled", { message_id: "m", attempt: 2, delay_s: 30, error: { code: "overloaded", message: "Busy." } }, "x");
  expect(log.conversation.nextAttempt).toEqual({ number: 2, time: 32 });
  log.add("message_start", { message_id: "m2", model: "one", attempt: 2 }, "x");
  expect(log.conversation.nextAttempt).toBeNull();
});
