/** Events: facts with their place in a session's log. The payloads come from the schema of events. */

import type { Message, ToolResult } from "./content.js";
import type * as schema from "./events.generated.js";

export type { Layer } from "./events.generated.js";
export type ExchangeStatus = schema.ExchangeResponse["status"];
export type ApprovalRequest = schema.ApprovalRequested;
export type Question = schema.QuestionAsked;
export type ClientCall = schema.ClientToolRequested;
export type FileChange = schema.FileChanged;
export type ExchangeEnd = schema.ExchangeResponse;

/** The payloads that hold messages and results, which may refer to stored blobs. */
interface ContentPayloads {
  tool_result: ToolResult;
  conversation_queued: Omit<schema.ConversationQueued, "message"> & { message?: Message | null };
  user_message: { message: Message };
  assistant_message: { message: Message };
  tool_use_message: { call: schema.ToolCall; result?: ToolResult | null };
  exchange_request: Omit<schema.ExchangeRequest, "message"> & { message: Message };
}

export type Payloads = Omit<schema.Payloads, keyof ContentPayloads> & ContentPayloads;

export type EventType = keyof Payloads;

/** A page or a document that a provider found, or that an answer cites. */
export type Source = Payloads["citation_added"]["source"];

interface Envelope<T extends EventType> {
  seq: number;
  id: string;
  session: string;
  exchange: string | null;
  type: T;
  layer: schema.Layer;
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
