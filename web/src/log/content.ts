/** What messages hold, as the server writes it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface TextBlock {
  type: "text";
  text: string;
  refusal?: boolean;
}

export interface ReasoningBlock {
  type: "reasoning";
  text: string;
}

export interface ImageBlock {
  type: "image";
  media_type?: string;
  data?: string;
  url?: string;
  blob?: string;
}

export interface FileBlock {
  type: "file";
  media_type: string;
  data?: string;
  url?: string;
  name?: string;
  blob?: string;
}

export interface GroundingBlock {
  type: "grounding";
  sources: { title: string; url?: string; quote?: string }[];
}

export interface ToolCall {
  type?: "tool_use";
  id: string;
  name: string;
  input: JsonObject;
  wire_id?: string;
  invalid?: { reason: string; message: string; raw: string };
}

export type ToolStatus =
  | "ok"
  | "error"
  | "denied"
  | "cancelled"
  | "timeout"
  | "interrupted"
  | "unknown_tool"
  | "invalid_input";

export type ResultPart = TextBlock | ImageBlock | FileBlock;

export interface ToolResult {
  type?: "tool_result";
  id: string;
  status: ToolStatus;
  content: string | ResultPart[];
  name?: string;
  truncated?: boolean;
  is_error?: boolean | null;
  summary?: string;
}

export type Block = TextBlock | ReasoningBlock | ImageBlock | FileBlock | GroundingBlock | ToolCall | ToolResult;

export interface Message {
  role: "user" | "assistant" | "tool";
  content: Block[];
  id?: string;
  /** The person's own words, where the texts of the content were made from them. */
  said?: string | null;
}

export interface ErrorInfo {
  code: string;
  message: string;
  retryable?: boolean;
  status?: number;
}

export function isCall(block: Block): block is ToolCall {
  return block.type === "tool_use";
}

export function textOf(message: Message): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

export function resultText(result: ToolResult): string {
  if (typeof result.content === "string") return result.content;
  return result.content.map((part) => (part.type === "text" ? part.text : "")).filter(Boolean).join("\n");
}

export function picturesOf(result: ToolResult): ImageBlock[] {
  return typeof result.content === "string" ? [] : result.content.filter((part) => part.type === "image");
}
