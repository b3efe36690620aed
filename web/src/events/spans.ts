/** How long things took, from a log: exchanges, messages and calls as spans. */

import type { LogEvent } from "../log/event";

export interface Span {
  key: string;
  kind: "exchange" | "message" | "tool";
  name: string;
  start: number;
  end: number | null;
  outcome: string;
}

export function spansOf(events: readonly LogEvent[]): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  const begin = (key: string, kind: Span["kind"], name: string, start: number) => {
    const span: Span = { key: `${key}-${spans.length}`, kind, name, start, end: null, outcome: "" };
    spans.push(span);
    open.set(key, span);
  };
  const end = (key: string, time: number, outcome: string) => {
    const span = open.get(key);
    if (span === undefined) return;
    span.end = time;
    span.outcome = outcome;
    open.delete(key);
  };
  for (const event of events) {
    switch (event.type) {
      case "exchange_request":
        begin(`x${event.exchange}`, "exchange", "exchange", event.time);
        break;
      case "exchange_response":
        end(`x${event.exchange}`, event.time, event.data.status);
        break;
      case "message_start":
        begin(`m${event.data.message}`, "message", event.data.model, event.time);
        break;
      case "message_stop":
        end(`m${event.data.message}`, event.time, "");
        break;
      case "message_discarded":
        end(`m${event.data.message}`, event.time, "discarded");
        break;
      case "tool_executing":
        begin(`t${event.data.id}`, "tool", event.data.name, event.time);
        break;
      case "tool_result":
        end(`t${event.data.id}`, event.time, event.data.status);
        break;
      default:
        break;
    }
  }
  return spans;
}
