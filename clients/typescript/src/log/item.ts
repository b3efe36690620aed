/** What a conversation shows, one thing after the other. An item that changes is replaced, never changed. */

import type { ErrorInfo, JsonObject, Message, ToolResult, ToolStatus } from "../content.js";
import type { ApprovalRequest, ExchangeEnd, FileChange, Question, Source } from "../events.js";

interface Placed {
  /** Stays the same as long as the item is shown. */
  key: string;
  /** The event that brought it. */
  seq: number;
}

export interface UserItem extends Placed {
  kind: "user";
  exchange: string | null;
  message: Message;
  /** Said while the agent was already at work. */
  steered: boolean;
  /** The last event before the exchange: where a branch would begin. */
  before: number;
}

export interface TextItem extends Placed {
  kind: "text";
  messageId: string;
  text: string;
  refusal: boolean;
  open: boolean;
  /** The message was cut off by whoever stopped it. */
  cut: boolean;
  /** What it cites. */
  sources: Source[];
}

export interface ThinkingItem extends Placed {
  kind: "thinking";
  messageId: string;
  text: string;
  started: number;
  ended: number | null;
}

export type ToolPhase = "writing" | "planned" | "waiting" | "running" | "done" | "failed";

export interface ToolItem extends Placed {
  kind: "tool";
  messageId: string;
  id: string;
  name: string;
  /** The call whose program made it. */
  parent: string | null;
  /** The arguments as they arrive. */
  json: string;
  input: JsonObject | null;
  invalid: string | null;
  phase: ToolPhase;
  status: ToolStatus | null;
  /** What the call does, in its tool's words; it stays when the call is over. */
  subject: string;
  /** What came of it. */
  summary: string;
  /** The exit code of a command that ended. */
  exitCode: number | null;
  started: number | null;
  durationMs: number | null;
  output: string;
  result: ToolResult | null;
  changes: FileChange[];
  writing: string | null;
  approval: ApprovalRequest | null;
  decision: { allowed: boolean; reason: string; always: boolean } | null;
  question: Question | null;
  answer: string | null;
  /** It waits for a client to run it. */
  onClient: boolean;
}

/** A tool that the provider runs. */
export interface ServerToolItem extends Placed {
  kind: "server_tool";
  messageId: string;
  name: string;
  input: JsonObject;
  done: boolean;
  failed: boolean;
  text: string;
  sources: Source[];
}

export interface NoticeItem extends Placed {
  kind: "notice";
  tone: "info" | "warning" | "error";
  text: string;
  error: ErrorInfo | null;
  /** The attempt that it announces. */
  attempt?: number;
}

export interface EndItem extends Placed {
  kind: "end";
  exchange: string | null;
  response: ExchangeEnd;
}

export type Item = UserItem | TextItem | ThinkingItem | ToolItem | ServerToolItem | NoticeItem | EndItem;
