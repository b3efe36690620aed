/** All text of an item of a conversation, for finding words in it. */

import { type Item, resultText, textOf } from "@heald/client";

export function textOfItem(item: Item): string {
  switch (item.kind) {
    case "user":
      return item.message.said ?? textOf(item.message);
    case "text":
    case "thinking":
    case "notice":
      return item.text;
    case "tool":
      return [item.name, item.subject, item.summary, item.json, item.output, item.result === null ? "" : resultText(item.result)].join("\n");
    case "server_tool":
      return [item.name, item.text].join("\n");
    case "end":
      return "";
  }
}
