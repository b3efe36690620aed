/** Events: facts with their place in a session's log, as docs/events.md lists them. */

import type { ErrorInfo, JsonObject, Message, ToolCall, ToolResult, ToolStatus } from "./content";
import type { Usage } from "./usage";

export type Layer = "stream" | "state" | "message" | "exchange";
export type ExchangeStatus = "completed" | "cancelled" | "failed" | "limit";

interface Place {
  index: number;
  block: string;
}

export interface ApprovalRequest {
  approval: string;
  call: string;
  name: string;
  digest: string;
  summary: string;
}

export interface Question {
  question: string;
  call: string;
  text: string;
  suggestions: string[];
}

export interface FileChange {
  path: string;
  revision: number;
  hash: string | null;
  prev_hash: string | null;
  cause: string;
  size?: number;
  diff?: string;
}

export interface ExchangeEnd {
  status: ExchangeStatus;
  stop_reason: string;
  duration_ms: number;
  turns: number;
  usage: Usage;
  cost_usd: number | null;
  error?: ErrorInfo;
  limit?: string;
  note?: string;
}

export interface Payloads {
  tool_call: ToolCall;
  tool_result: ToolResult;
  message_start: { message: string; model: string; attempt: number };
  text_content_block_start: Place & { refusal?: boolean };
  text_delta: Place & { text: string };
  text_content_block_stop: Place;
  thinking_content_block_start: Place;
  thinking_delta: Place & { text: string };
  thinking_content_block_stop: Place;
  tool_use_content_block_start: Place & { id: string; name: string };
  input_json_delta: Place & { partial_json: string };
  tool_use_content_block_stop: Place & { id: string };
  message_delta: { message: string; stop_reason: string; usage: Usage };
  message_stop: { message: string };
  message_discarded: { message: string; error: ErrorInfo; usage?: Usage; estimated?: boolean };
  tool_output_delta: { id: string; text: string; channel?: "stdout" | "stderr" | "progress" };
  file_preview: { id: string; path: string; offset: number; text: string };
  file_preview_reset: { id: string; path: string };

  conversation_queued: { position: number; request?: string; message?: Message | null };
  conversation_dequeued: { request: string; reason?: string };
  conversation_start: JsonObject;
  conversation_thinking: JsonObject;
  conversation_responding: JsonObject;
  conversation_end: JsonObject;
  conversation_interrupted: { reason?: string };
  tool_planned: { id: string; name: string };
  tool_executing: { id: string; name: string; attempt: number; resources?: string[]; summary?: string };
  tool_completed: { id: string; name: string; duration_ms: number; summary?: string };
  tool_failed: { id: string; name: string; status: ToolStatus; duration_ms: number; summary?: string };
  approval_requested: ApprovalRequest;
  approval_resolved: {
    approval: string;
    call: string;
    decision: "allowed" | "denied";
    reason?: string;
    input?: JsonObject | null;
    always?: boolean;
  };
  question_asked: Question;
  question_answered: { question: string; call: string; answer: string };
  file_changed: FileChange;
  file_accepted: { path: string; hash: string | null };
  retry_scheduled: { message: string; attempt: number; delay_s: number; error: ErrorInfo };
  cancel_requested: { reason?: string };
  error_occurred: { error: ErrorInfo };
  session_resumed: { from_seq: number; requests?: string[] };
  session_rewound: { seq: number };

  user_message: { message: Message };
  assistant_message: { message: Message };
  tool_use_message: { call: ToolCall; result?: ToolResult | null };
  error_message: { error: ErrorInfo };

  exchange_request: { message: Message; model?: string; client_request_id?: string | null; cause?: string | null };
  exchange_response: ExchangeEnd;
}

export type EventType = keyof Payloads;

interface Envelope<T extends EventType> {
  seq: number;
  id: string;
  session: string;
  exchange: string | null;
  type: T;
  layer: Layer;
  time: number;
  epoch: number;
  data: Payloads[T];
}

export type LogEvent = { [T in EventType]: Envelope<T> }[EventType];

/** The events that a frame brings, one or many; null if it is the server speaking for itself. */
export function eventsOf(frame: unknown): readonly LogEvent[] | null {
  if (isEvent(frame)) return [frame];
  if (typeof frame !== "object" || frame === null) return null;
  const { type, events } = frame as Record<string, unknown>;
  return type === "events" && Array.isArray(events) ? events.filter(isEvent) : null;
}

/** Whether a value is an event of a log. */
export function isEvent(frame: unknown): frame is LogEvent {
  if (typeof frame !== "object" || frame === null) return false;
  const { seq, session, type, data } = frame as Record<string, unknown>;
  return typeof seq === "number" && typeof session === "string" && typeof type === "string" && typeof data === "object" && data !== null;
}
