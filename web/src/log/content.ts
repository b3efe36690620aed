/** The content of messages. */

export { isCall, picturesOf, resultText, textOf } from "@heald/client";
export type {
  Block,
  ErrorInfo,
  FileBlock,
  GroundingBlock,
  ImageBlock,
  Json,
  JsonObject,
  Message,
  ReasoningBlock,
  ResultPart,
  TextBlock,
  ToolCall,
  ToolResult,
  ToolStatus,
} from "@heald/client";
