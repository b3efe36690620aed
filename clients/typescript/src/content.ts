/** The content of messages. Types come from the schema of events; a stored picture or file has a `blob` beside it. */

import type * as schema from "./events.generated.js";

export type { ErrorInfo, Json, JsonObject, ToolCall, Usage } from "./events.generated.js";

interface Stored {
  blob?: string;
}

export type TextBlock = schema.Text;
export type ReasoningBlock = schema.Reasoning;
export type ImageBlock = schema.Image & Stored;
export type FileBlock = schema.File & Stored;
export type GroundingBlock = schema.Grounding;
export type ToolStatus = schema.ToolResult["status"];
export type ResultPart = TextBlock | ImageBlock | FileBlock;
export type ToolResult = Omit<schema.ToolResult, "content"> & { content: string | ResultPart[] };
export type Block = TextBlock | ReasoningBlock | ImageBlock | FileBlock | GroundingBlock | schema.ToolCall | ToolResult;
export type Message = Omit<schema.Message, "content"> & { content: Block[] };

/** What a message to the model may contain. */
export type Content = (TextBlock | ImageBlock | FileBlock)[];

export function isCall(block: Block): block is schema.ToolCall {
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
