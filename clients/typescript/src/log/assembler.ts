/** From deltas to the message that is being written. */

import type { LogEvent } from "../events.js";

interface OpenBlock {
  kind: "text" | "refusal" | "thinking" | "tool";
  call: string;
  name: string;
  text: string;
}

export class Assembler {
  /** The id of the message that is open now. */
  messageId = "";
  blocks: OpenBlock[] = [];

  feed(event: LogEvent): void {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
        this.grow(event.data.index, event.data.text);
        return;
      case "input_json_delta":
        this.grow(event.data.index, event.data.partial_json);
        return;
      case "message_start":
        this.messageId = event.data.message_id;
        this.blocks = [];
        return;
      case "text_content_block_start":
        this.open(event.data.refusal === true ? "refusal" : "text");
        return;
      case "thinking_content_block_start":
        this.open("thinking");
        return;
      case "tool_use_content_block_start":
        this.open("tool", event.data.id, event.data.name);
        return;
      case "message_stop":
      case "message_discarded":
        this.messageId = "";
        this.blocks = [];
        return;
      default:
        return;
    }
  }

  /** The text of the open message so far. */
  get said(): string {
    return this.blocks.map((block) => (block.kind === "text" ? block.text : "")).join("");
  }

  private open(kind: OpenBlock["kind"], call = "", name = ""): void {
    this.blocks.push({ kind, call, name, text: "" });
  }

  private grow(index: number, text: string): void {
    const block = this.blocks[index];
    if (block !== undefined) block.text += text;
  }
}
