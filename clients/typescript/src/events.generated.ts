/** The payloads of events. Made from docs/events.schema.json by scripts/make_event_types.py. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface AgentChanged {
  agent: string;
  call_id?: string;
  model?: string;
  previous?: string;
  reason?: string;
}

export interface ApprovalRequested {
  approval: string;
  call_id: string;
  diff?: string;
  digest: string;
  input?: JsonObject;
  name: string;
  reason?: string;
  summary: string;
}

export interface ApprovalResolved {
  always?: boolean;
  approval: string;
  by?: string;
  call_id: string;
  decision: "allowed" | "denied";
  input?: JsonObject | null;
  reason?: string;
}

export interface AssistantMessage {
  message: Message;
}

export interface CancelRequested {
  reason?: string;
}

export interface CitationAdded {
  block: string;
  end?: number | null;
  message_id: string;
  source: Source;
  start?: number | null;
}

export interface CitedRange {
  end: number;
  start: number;
  unit: "block" | "character" | "page";
}

export interface ClientToolRequested {
  id: string;
  input: JsonObject;
  name: string;
  timeout_seconds: number;
}

export interface ConversationCompacted {
  cost_usd?: number | null;
  kept?: number;
  message?: Message | null;
  reason: "refused" | "requested" | "window";
  removed?: number;
  shortened?: number;
  tokens_after?: number;
  tokens_before?: number;
  usage?: Usage;
  written_by?: "model" | "provider" | "rule" | null;
}

export interface ConversationDequeued {
  reason?: string;
  request: string;
}

export type ConversationEnd = JsonObject;

export interface ConversationInterrupted {
  reason?: string;
}

export interface ConversationQueued {
  budget?: JsonObject | null;
  cause?: string | null;
  client_request_id?: string | null;
  message?: Message | null;
  output_schema?: JsonObject | null;
  position: number;
  request?: string;
}

export type ConversationResponding = JsonObject;

export interface ConversationRestored {
  seq: number;
}

export type ConversationStart = JsonObject;

export interface ConversationSteered {
  client_request_id?: string | null;
  message: Message;
}

export type ConversationThinking = JsonObject;

export interface ConversationWaiting {
  call_ids: string[];
}

export interface ErrorInfo {
  code: "answer_too_slow" | "authentication" | "bad_base_url" | "cancelled" | "configuration" | "connection" | "content_blocked" | "context_overflow" | "incomplete" | "internal" | "invalid_request" | "malformed_response" | "missing_key" | "model_not_found" | "node_lost" | "overloaded" | "permission" | "quota_exhausted" | "rate_limited" | "server_error" | "stalled" | "timeout" | "unknown_provider";
  message: string;
  provider_code?: string | null;
  request_id?: string | null;
  retryable?: boolean;
  status?: number | null;
}

export interface ErrorMessage {
  error: ErrorInfo;
}

export interface ErrorOccurred {
  error: ErrorInfo;
}

export interface ExchangeRequest {
  budget?: JsonObject | null;
  cause?: string | null;
  client_request_id?: string | null;
  message: Message;
  model?: string;
  output_schema?: JsonObject | null;
}

export interface ExchangeResponse {
  cost_usd: number | null;
  delegated?: Usage | null;
  duration_ms: number;
  error?: ErrorInfo | null;
  limit?: string | null;
  note?: string | null;
  status: "cancelled" | "completed" | "failed" | "limit";
  stop_reason: "content_filter" | "end_turn" | "error" | "max_tokens" | "pause_turn" | "refusal" | "stop_sequence" | "tool_use";
  turns: number;
  usage: Usage;
}

export interface File {
  data?: string | null;
  file_id?: string | null;
  media_type: string;
  name?: string | null;
  type: "file";
  url?: string | null;
}

export interface FileAccepted {
  hash: string | null;
  path: string;
}

export interface FileChanged {
  cause: string;
  diff?: string;
  found?: string | null;
  hash: string | null;
  path: string;
  prev_hash: string | null;
  revision: number;
  size?: number;
}

export interface FilePreview {
  id: string;
  offset: number;
  path: string;
  text: string;
}

export interface FilePreviewReset {
  id: string;
  path: string;
}

export interface Grounding {
  sources: Source[];
  type: "grounding";
}

export interface Image {
  data?: string | null;
  detail?: "auto" | "high" | "low" | "original" | null;
  file_id?: string | null;
  media_type?: string;
  type: "image";
  url?: string | null;
}

export interface InputJsonDelta {
  block: string;
  index: number;
  partial_json: string;
}

export interface InvalidCall {
  message: string;
  raw: string;
  reason: "disabled" | "filtered" | "malformed" | "refused" | "truncated";
}

export interface Iteration {
  cache_read?: number;
  cache_write?: number;
  cache_write_1h?: number;
  image_input?: number;
  image_output?: number;
  input?: number;
  kind: string;
  model?: string | null;
  output?: number;
}

export interface Message {
  content: (Text | Reasoning | Image | File | ToolCall | ToolResult | Grounding)[];
  design?: JsonObject | null;
  id?: string;
  native?: Native | null;
  role: "assistant" | "tool" | "user";
  said?: string | null;
  timestamp?: number | null;
}

export interface MessageDelta {
  calls_allowed?: boolean;
  cost_usd?: number | null;
  interrupted?: boolean;
  message_id: string;
  notes?: string[];
  provider_stop_reason?: string | null;
  provider_usage?: JsonObject | null;
  stop_reason: "content_filter" | "end_turn" | "error" | "max_tokens" | "pause_turn" | "refusal" | "stop_sequence" | "tool_use";
  usage: Usage;
}

export interface MessageDiscarded {
  error: ErrorInfo;
  estimated?: boolean;
  message_id: string;
  usage?: Usage;
}

export interface MessageStart {
  attempt: number;
  message_id: string;
  model: string;
}

export interface MessageStop {
  message_id: string;
}

export interface Native {
  content: Json;
  model: string;
  provider: string;
  wire: string;
}

export interface PromptProgress {
  message_id: string;
  processed: number;
  total: number;
}

export interface QuestionAnswered {
  answer: string;
  call_id: string;
  question: string;
}

export interface QuestionAsked {
  call_id: string;
  question: string;
  suggestions: string[];
  text: string;
}

export interface Reasoning {
  text: string;
  type: "reasoning";
}

export interface RequestWithdrawn {
  messages: number;
  reason: string;
}

export interface ResponseRequested {
  begin?: number | null;
  continues?: boolean;
  exchange: string;
  input: string;
  parameters: JsonObject;
}

export interface RetryScheduled {
  attempt: number;
  delay_s: number;
  error: ErrorInfo;
  message_id: string;
}

export interface ServerToolCall {
  id: string;
  input?: JsonObject;
  message_id: string;
  name: string;
}

export interface ServerToolResult {
  id: string;
  is_error?: boolean;
  message_id: string;
  name: string;
  sources?: Source[];
  text?: string;
}

export interface SessionForked {
  by?: string;
  call_id?: string | null;
  changed?: ("approval" | "model" | "prompt" | "result")[];
  model?: string;
  parent: string;
  seq: number;
}

export type SessionReleased = JsonObject;

export interface SessionResumed {
  continues?: string | null;
  crashed?: boolean;
  from_seq: number;
  node?: string;
  requests?: string[];
}

export interface SessionRewound {
  seq: number;
}

export interface Source {
  quote?: string | null;
  range?: CitedRange | null;
  title: string;
  url?: string | null;
}

export interface Text {
  refusal?: boolean;
  text: string;
  type: "text";
}

export interface TextContentBlockStart {
  block: string;
  index: number;
  refusal?: boolean;
}

export interface TextContentBlockStop {
  block: string;
  index: number;
}

export interface TextDelta {
  block: string;
  index: number;
  text: string;
}

export interface ThinkingContentBlockStart {
  block: string;
  index: number;
}

export interface ThinkingContentBlockStop {
  block: string;
  index: number;
}

export interface ThinkingDelta {
  block: string;
  index: number;
  text: string;
}

export interface ToolCall {
  form?: string | null;
  id: string;
  input: JsonObject;
  invalid?: InvalidCall | null;
  name: string;
  parent?: string | null;
  type: "tool_use";
  wire_id?: string | null;
}

export interface ToolCompleted {
  cached?: boolean;
  cost_usd?: number | null;
  duration_ms: number;
  id: string;
  name: string;
  summary?: string;
}

export interface ToolExecuting {
  attempt: number;
  id: string;
  idempotent?: boolean;
  name: string;
  resources?: string[];
  summary?: string;
}

export interface ToolFailed {
  cost_usd?: number | null;
  duration_ms: number;
  id: string;
  name: string;
  status: "cancelled" | "denied" | "error" | "interrupted" | "invalid_input" | "ok" | "timeout" | "unknown_tool";
  summary?: string;
}

export interface ToolOutputDelta {
  channel?: "progress" | "stderr" | "stdout";
  id: string;
  text: string;
}

export interface ToolPlanned {
  id: string;
  name: string;
}

export interface ToolResult {
  content: string | (Text | Image | File)[];
  data?: JsonObject | null;
  id: string;
  is_error?: boolean | null;
  name?: string;
  status: "cancelled" | "denied" | "error" | "interrupted" | "invalid_input" | "ok" | "timeout" | "unknown_tool";
  summary?: string;
  truncated?: boolean;
  type: "tool_result";
  whole?: WholeResult | null;
}

export interface ToolUseContentBlockStart {
  block: string;
  form?: string | null;
  id: string;
  index: number;
  name: string;
}

export interface ToolUseContentBlockStop {
  block: string;
  id: string;
  index: number;
}

export interface ToolUseMessage {
  call: ToolCall;
  result?: ToolResult | null;
}

export interface Usage {
  cache_read?: number | null;
  cache_write?: number | null;
  cache_write_1h?: number | null;
  input?: number | null;
  iterations?: Iteration[];
  output?: number | null;
  reasoning?: number | null;
  server_tools?: Record<string, number>;
  tier?: string | null;
}

export interface UserMessage {
  message: Message;
}

export interface WholeResult {
  blob: string;
  characters: number;
  handle: string;
}

export type Layer = "stream" | "state" | "message" | "exchange";

/** The payload of each type of event. */
export interface Payloads {
  tool_call: ToolCall;
  tool_result: ToolResult;
  message_start: MessageStart;
  text_content_block_start: TextContentBlockStart;
  text_delta: TextDelta;
  text_content_block_stop: TextContentBlockStop;
  thinking_content_block_start: ThinkingContentBlockStart;
  thinking_delta: ThinkingDelta;
  thinking_content_block_stop: ThinkingContentBlockStop;
  tool_use_content_block_start: ToolUseContentBlockStart;
  input_json_delta: InputJsonDelta;
  tool_use_content_block_stop: ToolUseContentBlockStop;
  message_delta: MessageDelta;
  message_stop: MessageStop;
  message_discarded: MessageDiscarded;
  tool_output_delta: ToolOutputDelta;
  file_preview: FilePreview;
  file_preview_reset: FilePreviewReset;
  server_tool_call: ServerToolCall;
  server_tool_result: ServerToolResult;
  citation_added: CitationAdded;
  conversation_queued: ConversationQueued;
  conversation_dequeued: ConversationDequeued;
  conversation_steered: ConversationSteered;
  conversation_start: ConversationStart;
  conversation_thinking: ConversationThinking;
  conversation_responding: ConversationResponding;
  conversation_end: ConversationEnd;
  conversation_interrupted: ConversationInterrupted;
  tool_planned: ToolPlanned;
  tool_executing: ToolExecuting;
  tool_completed: ToolCompleted;
  tool_failed: ToolFailed;
  approval_requested: ApprovalRequested;
  approval_resolved: ApprovalResolved;
  question_asked: QuestionAsked;
  question_answered: QuestionAnswered;
  client_tool_requested: ClientToolRequested;
  conversation_waiting: ConversationWaiting;
  agent_changed: AgentChanged;
  file_changed: FileChanged;
  file_accepted: FileAccepted;
  retry_scheduled: RetryScheduled;
  cancel_requested: CancelRequested;
  error_occurred: ErrorOccurred;
  session_resumed: SessionResumed;
  session_released: SessionReleased;
  session_rewound: SessionRewound;
  session_forked: SessionForked;
  response_requested: ResponseRequested;
  conversation_compacted: ConversationCompacted;
  conversation_restored: ConversationRestored;
  request_withdrawn: RequestWithdrawn;
  prompt_progress: PromptProgress;
  user_message: UserMessage;
  assistant_message: AssistantMessage;
  tool_use_message: ToolUseMessage;
  error_message: ErrorMessage;
  exchange_request: ExchangeRequest;
  exchange_response: ExchangeResponse;
}
