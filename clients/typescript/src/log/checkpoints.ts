/** The checkpoints of a conversation: one before each request, with what the agent did for it. */

import { textOf } from "../content.js";
import type { FileChange } from "../events.js";
import type { Item, ToolItem } from "./item.js";

export interface Checkpoint {
  key: string;
  /** The event to go back to: the last one before the request. */
  before: number;
  /** What was asked for. */
  words: string;
  /** How it ended; null while it runs. */
  outcome: string | null;
  /** The changes of files in their order. */
  changes: FileChange[];
  commands: ToolItem[];
}

export interface PlanStep {
  text: string;
  status: "pending" | "in_progress" | "done";
}

const COMMAND = "run_command";

/** The checkpoints of the conversation as it is now, the first one first. */
export function checkpointsOf(items: readonly Item[]): Checkpoint[] {
  const checkpoints: Checkpoint[] = [];
  for (const item of items) {
    if (item.kind === "user" && !item.steered && item.exchange !== null) {
      checkpoints.push({
        key: item.key,
        before: item.before,
        words: item.message.said ?? textOf(item.message),
        outcome: null,
        changes: [],
        commands: [],
      });
      continue;
    }
    const current = checkpoints.at(-1);
    if (current === undefined) continue;
    if (item.kind === "end") current.outcome = item.response.status;
    if (item.kind !== "tool") continue;
    current.changes.push(...item.changes);
    if (item.name === COMMAND || item.exitCode !== null) current.commands.push(item);
  }
  return checkpoints;
}

/** The list of steps that the agent wrote last; empty if it wrote none. */
export function planOf(items: readonly Item[]): PlanStep[] {
  const written = items.findLast((item) => item.kind === "tool" && item.name === "todo_list" && Array.isArray(item.input?.["items"]));
  if (written?.kind !== "tool") return [];
  const steps = written.input?.["items"] as unknown[];
  return steps.filter(isStep).map((step) => ({ text: step.text, status: step.status ?? "pending" }));
}

function isStep(value: unknown): value is { text: string; status?: PlanStep["status"] } {
  return typeof value === "object" && value !== null && typeof (value as { text?: unknown }).text === "string";
}
