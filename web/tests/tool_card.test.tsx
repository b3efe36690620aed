import { Conversation, fold, type LogEvent, type ToolItem } from "@heald/client";
import { expect, test } from "vitest";
import { statusWords } from "../src/chat/thread";
import { growingText, signOf, summaryOf } from "../src/chat/tool_card";

interface Call {
  name?: string;
  input: Record<string, string>;
  executing?: string;
  result: Record<string, unknown>;
}

/** The card of one call: while it runs, and when it is over. */
function cards({ name = "run_command", input, executing = "", result }: Call): [ToolItem, ToolItem] {
  const event = (seq: number, type: string, data: object) => ({ seq, id: `e${seq}`, session: "s", exchange: "x", type, layer: "stream", time: seq, epoch: 1, data }) as unknown as LogEvent;
  const begun = [event(1, "tool_call", { id: "c", name, input }), ...(executing === "" ? [] : [event(2, "tool_executing", { id: "c", name, summary: executing })])];
  const ended = event(3, "tool_result", { id: "c", name, status: "ok", content: "", ...result });
  const cardOf = (events: LogEvent[]) => events.reduce(fold, new Conversation("s")).transcript.items.find((item) => item.kind === "tool") as ToolItem;
  return [cardOf(begun), cardOf([...begun, ended])];
}

test("a command that ended with another exit code than 0 has failed, and says what was run", () => {
  const result = { summary: "exit code 2, 0.1 s, unsandboxed", data: { exit_code: 2 } };
  const [running, over] = cards({ input: { command: "npm test" }, executing: "npm test", result });
  expect(summaryOf(running)).toBe("npm test");
  expect(over.phase).toBe("failed");
  expect(signOf(over)).toEqual(["alert", "failed with exit code 2"]);
  expect(summaryOf(over)).toBe("exit code 2 · npm test · unsandboxed");
});

test("a command that succeeded is done, and says what was run", () => {
  const result = { summary: "exit code 0, 0.1 s", data: { exit_code: 0 } };
  const [, over] = cards({ input: { command: "npm test" }, executing: "npm test", result });
  expect(signOf(over)).toEqual(["check", "done"]);
  expect(summaryOf(over)).toBe("npm test · exit code 0, 0.1 s");
});

test("a log of an older version, and one without the tool's words, show the same", () => {
  const [, over] = cards({ input: { command: "npm test" }, result: { summary: "exit code 127, 0.0 s" } });
  expect(signOf(over)).toEqual(["alert", "failed with exit code 127"]);
  expect(summaryOf(over)).toBe("exit code 127 · npm test");
});

test("a finished card keeps its path", () => {
  const read = { name: "read_file", input: { path: "notes/today.md" } };
  const [running, over] = cards({ ...read, executing: "Read notes/today.md", result: { summary: "4 lines" } });
  expect(summaryOf(running)).toBe("Read notes/today.md");
  expect(summaryOf(over)).toBe("Read notes/today.md · 4 lines");
  const [, missing] = cards({ ...read, executing: "Read notes/today.md", result: { status: "error", is_error: true, summary: "There is no file notes/today.md." } });
  expect(signOf(missing)).toEqual(["alert", "error"]);
  expect(summaryOf(missing)).toBe("Read notes/today.md · There is no file notes/today.md.");
  const [, denied] = cards({ input: { command: "rm a" }, result: { status: "denied", summary: "" } });
  expect(summaryOf(denied)).toBe("denied · rm a");
});

test("a result that is an error has failed, whatever its status", () => {
  const [, over] = cards({ name: "fetch", input: {}, executing: "Fetch a page", result: { is_error: true, summary: "404" } });
  expect(signOf(over)).toEqual(["alert", "failed"]);
});

test("a file that is being written is shown as it will be, and the agent is writing", () => {
  const event = (seq: number, type: string, data: object) => ({ seq, id: `e${seq}`, session: "s", exchange: "x", type, layer: "stream", time: seq, epoch: 1, data }) as unknown as LogEvent;
  const json = '{"path":"index.html","content":"<p class=\\"card\\">A \\\\ B</p>\\n<p>';
  const state = [
    event(1, "exchange_request", {}),
    event(2, "conversation_thinking", {}),
    event(3, "tool_use_content_block_start", { index: 0, block: "b", id: "c", name: "create_file" }),
    event(4, "input_json_delta", { index: 0, block: "b", partial_json: json }),
  ].reduce(fold, new Conversation("s"));
  const item = state.transcript.items.find((candidate) => candidate.kind === "tool") as ToolItem;
  expect(growingText(item)).toContain('<p class="card">A \\ B</p>\n<p>');
  expect(growingText({ ...item, phase: "running", output: 'a \\" b' })).toBe('a \\" b');
  expect(statusWords(state)).toBe("Writing");
});
