/** The events of the agentx dialect, in four layers. Times are in milliseconds. */

/** Why a model ended its message. */
export type StopReason =
  | "end_turn"
  | "tool_use"
  | "max_tokens"
  | "stop_sequence"
  | "refusal"
  | "content_filter"
  | "pause_turn"
  | "error";

export interface TokenUsage {
  input: number;
  output: number;
}

export interface EventError {
  code: string;
  message: string;
}

export interface ToolCall {
  type: "tool-call";
  id: string;
  name: string;
  input: Record<string, unknown>;
}

export interface ToolResultOutput {
  type: "text" | "error-text";
  value: string;
}

export interface ToolResult {
  type: "tool-result";
  id: string;
  name: string;
  output: ToolResultOutput;
}

export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image"; mediaType: string; data?: string; url?: string }
  | { type: "file"; mediaType: string; data?: string; url?: string; name?: string };

export interface UserMessage {
  id: string;
  role: "user" | "tool";
  content: string | ContentPart[];
  timestamp: number;
}

export interface AssistantMessage {
  id: string;
  role: "assistant";
  content: string | ContentPart[];
  thinking?: string;
  toolCalls?: ToolCall[];
  timestamp: number;
}

export interface ToolUseMessage {
  id: string;
  role: "tool-use";
  toolCall: ToolCall;
  toolResult: ToolResult;
  timestamp: number;
}

export interface ErrorMessage extends EventError {
  id: string;
  role: "error";
  timestamp: number;
}

export type Message = UserMessage | AssistantMessage | ToolUseMessage | ErrorMessage;

export type ToolStatus = "ok" | "error" | "denied" | "cancelled" | "timeout" | "interrupted" | "unknown_tool" | "invalid_input";

type Nothing = Record<string, never>;
type Fields = Record<string, unknown>;

/** The data of every event by its type. */
export interface EventData {
  // stream
  message_start: { message: { id: string; model: string }; attempt: number };
  text_content_block_start: { refusal?: boolean };
  text_delta: { text: string };
  text_content_block_stop: Nothing;
  thinking_content_block_start: Nothing;
  thinking_delta: { text: string };
  thinking_content_block_stop: Nothing;
  tool_use_content_block_start: { id: string; name: string };
  input_json_delta: { partialJson: string };
  tool_use_content_block_stop: { id: string };
  message_delta: { delta: { stopReason: StopReason }; usage: TokenUsage };
  message_stop: { message: { id: string } };
  message_discarded: { message: { id: string }; error: EventError };
  tool_call: { id: string; name: string; input: Record<string, unknown>; invalid?: { reason: string; message: string } };
  tool_output_delta: { id: string; text: string; channel?: "stdout" | "stderr" | "progress" };
  tool_result: { toolId: string; content: unknown; isError: boolean; status: ToolStatus };
  file_preview: { id: string; path: string; offset: number; text: string };
  file_preview_reset: { id: string; path: string };
  server_tool_call: Fields;
  server_tool_result: Fields;
  citation_added: Fields;
  // state
  conversation_start: Nothing;
  conversation_thinking: Nothing;
  conversation_responding: Nothing;
  conversation_end: Nothing;
  conversation_interrupted: { reason?: string };
  conversation_waiting: { callIds: string[] };
  tool_planned: { id: string; name: string };
  tool_executing: { id: string; name: string; attempt: number; summary?: string };
  tool_completed: { id: string; name: string; durationMs: number; summary?: string };
  tool_failed: { id: string; name: string; status: ToolStatus; durationMs: number; summary?: string };
  client_tool_requested: { id: string; name: string; input: Record<string, unknown>; timeoutSeconds?: number };
  approval_requested: { approval: string; callId: string; name: string; digest: string; summary: string };
  approval_resolved: { approval: string; callId: string; decision: "allowed" | "denied"; reason?: string };
  question_asked: { question: string; callId: string; text: string; suggestions: string[] };
  question_answered: { question: string; callId: string; answer: string };
  file_changed: { path: string; revision: number; hash: string | null; cause: string; size?: number; diff?: string };
  /** Another agent continues the conversation. */
  agent_changed: { agent: string; previous?: string; model?: string; callId?: string; reason?: string };
  retry_scheduled: { attempt: number; delayS: number; error: EventError };
  cancel_requested: { reason?: string };
  error_occurred: { error: EventError };
  session_resumed: Fields;
  session_released: Fields;
  conversation_steered: Fields;
  conversation_compacted: Fields;
  conversation_restored: Fields;
  request_withdrawn: Fields;
  prompt_progress: { messageId: string; processed: number; total: number };
  response_requested: Fields;
  // message
  user_message: UserMessage;
  assistant_message: AssistantMessage;
  tool_use_message: ToolUseMessage;
  /** The same message with its result. `tool_use_message` comes once for each call. */
  tool_use_message_update: ToolUseMessage;
  error_message: ErrorMessage;
  // exchange
  exchange_request: { userMessage: UserMessage; requestedAt: number };
  exchange_response: {
    assistantMessage: AssistantMessage | null;
    respondedAt: number;
    durationMs: number;
    usage: TokenUsage;
    costUsd: number | null;
    status: "completed" | "cancelled" | "failed" | "limit";
    stopReason: StopReason;
    error?: EventError;
    note?: string;
  };
}

export type EventType = keyof EventData;

/** An event of one type. `index` is the number of a content block. */
export interface EventOf<T extends EventType> {
  type: T;
  uuid: string;
  agentId: string;
  timestamp: number;
  exchangeId: string;
  index?: number;
  data: EventData[T];
}

export type AgentEvent = { [T in EventType]: EventOf<T> }[EventType];

export type ToolUseContentBlockStartEvent = EventOf<"tool_use_content_block_start">;
export type InputJsonDeltaEvent = EventOf<"input_json_delta">;
export type ToolUseContentBlockStopEvent = EventOf<"tool_use_content_block_stop">;
export type ToolCallEvent = EventOf<"tool_call">;
export type ToolResultEvent = EventOf<"tool_result">;
export type ToolUseMessageEvent = EventOf<"tool_use_message">;
export type MessageDeltaEvent = EventOf<"message_delta">;
export type TextDeltaEvent = EventOf<"text_delta">;
export type UserMessageEvent = EventOf<"user_message">;
export type AssistantMessageEvent = EventOf<"assistant_message">;
export type ErrorMessageEvent = EventOf<"error_message">;
export type ExchangeRequestEvent = EventOf<"exchange_request">;
export type ExchangeResponseEvent = EventOf<"exchange_response">;

/** The types of events, for the check of handler names. */
export const EVENT_TYPES: readonly EventType[] = [
  "message_start", "text_content_block_start", "text_delta", "text_content_block_stop", "thinking_content_block_start",
  "thinking_delta", "thinking_content_block_stop", "tool_use_content_block_start", "input_json_delta",
  "tool_use_content_block_stop", "message_delta", "message_stop", "message_discarded", "tool_call", "tool_output_delta",
  "tool_result", "file_preview", "file_preview_reset", "conversation_start", "conversation_thinking",
  "conversation_responding", "conversation_end", "conversation_interrupted", "conversation_waiting", "tool_planned",
  "tool_executing", "tool_completed", "tool_failed", "client_tool_requested", "approval_requested", "approval_resolved",
  "question_asked", "question_answered", "file_changed", "agent_changed", "retry_scheduled", "cancel_requested", "error_occurred",
  "session_resumed", "session_released", "conversation_steered", "conversation_compacted", "conversation_restored",
  "request_withdrawn", "prompt_progress", "response_requested", "server_tool_call", "server_tool_result", "citation_added", "user_message", "assistant_message", "tool_use_message",
  "tool_use_message_update", "error_message", "exchange_request", "exchange_response",
];
