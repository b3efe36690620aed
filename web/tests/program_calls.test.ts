import { Conversation, fold, type LogEvent, type ToolItem } from "@heald/client";
import { expect, test } from "vitest";

function folded(...payloads: [string, object][]): Conversation {
  const events = payloads.map(([type, data], at) => ({ seq: at + 1, id: `evt_${at}`, session: "s", exchange: "ex", type, layer: "stream", time: at, epoch: 1, data }));
  return (events as unknown as LogEvent[]).reduce(fold, new Conversation("s"));
}

function call(id: string, name: string, parent?: string): [string, object] {
  return ["tool_call", { id, name, input: {}, ...(parent === undefined ? {} : { parent }) }];
}

test("calls of programs stand below their program, also if two run at once", () => {
  const { transcript } = folded(
    call("one", "run_program"),
    call("two", "run_program"),
    call("a", "price", "two"),
    call("b", "price", "one"),
    call("c", "price", "two"),
  );
  const tools = transcript.items.filter((item): item is ToolItem => item.kind === "tool");
  expect(tools.map((item) => [item.id, item.parent])).toEqual([
    ["one", null],
    ["b", "one"],
    ["two", null],
    ["a", "two"],
    ["c", "two"],
  ]);
});

test("the result of a call changes its own card, wherever it stands", () => {
  const { transcript } = folded(
    call("one", "run_program"),
    call("two", "run_program"),
    call("a", "price", "one"),
    ["tool_result", { type: "tool_result", id: "a", name: "price", status: "ok", content: "5" }],
    ["tool_result", { type: "tool_result", id: "two", name: "run_program", status: "error", content: "no" }],
  );
  const tools = transcript.items.filter((item): item is ToolItem => item.kind === "tool");
  expect(tools.map((item) => [item.id, item.status])).toEqual([["one", null], ["a", "ok"], ["two", "error"]]);
});

test("a question ends with its call", () => {
  const asked: [string, object] = ["question_asked", { question: "q", call_id: "a", text: "?", suggestions: [] }];
  expect(folded(call("a", "ask_user", "one"), asked).questions.size).toBe(1);
  const ended: [string, object] = ["tool_result", { type: "tool_result", id: "a", name: "ask_user", status: "interrupted", content: "" }];
  expect(folded(call("a", "ask_user", "one"), asked, ended).questions.size).toBe(0);
});
