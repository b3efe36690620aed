import { Conversation, fold, type LogEvent, restoreConversation, type ToolItem } from "@heald/client";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { statusWords } from "../src/chat/thread";
import { signOf, summaryOf } from "../src/chat/tool_card";

function folded(name: string): Conversation {
  const lines = readFileSync(new URL(`./logs/${name}.jsonl`, import.meta.url), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as LogEvent).reduce(fold, new Conversation("s"));
}

function cards(conversation: Conversation): [string, string, string | null][] {
  const tools = conversation.transcript.items.filter((item): item is ToolItem => item.kind === "tool");
  return tools.map((item) => [item.phase, summaryOf(item), signOf(item)[0]]);
}

test("a call of a client waits, and the page says for whom", () => {
  const conversation = folded("client_calls");
  expect(statusWords(conversation)).toBe("Waiting for a client");
  const [seen, answered, waiting] = cards(conversation);
  expect([seen?.[0], answered?.[0], waiting?.[0]]).toEqual(["done", "done", "waiting"]);
  expect(waiting?.[1]).toBe("waits for a client");
  expect(waiting?.[2]).not.toBeNull(); // null is the spinner
  expect(answered?.[1]).not.toContain("client");
});

test("a question that waits beside it is for the reader", () => {
  const conversation = folded("client_calls");
  conversation.questions.set("q", { question: "q", call_id: "c", text: "?", suggestions: [] });
  expect(statusWords(conversation)).toBe("Waiting for you");
});

test("a snapshot brings the calls that wait", () => {
  const waiting = { id: "call_9", name: "where_am_i", input: {}, timeout_seconds: 600 };
  const asked = { role: "assistant" as const, content: [{ type: "tool_use" as const, id: "call_9", name: "where_am_i", input: {} }] };
  const conversation = restoreConversation("s", { messages: [asked], client_calls: [waiting], status: "waiting" }, 12);
  expect(statusWords(conversation)).toBe("Waiting for a client");
  expect(cards(conversation)[0]?.[1]).toBe("waits for a client");
});

test("results that an exchange began with are not message of the user", () => {
  const { transcript, messages } = folded("continued");
  expect(messages.map((message) => message.role)).toEqual(["tool", "assistant"]);
  expect(transcript.items.map((item) => item.kind)).toEqual(["text", "end"]);
});
