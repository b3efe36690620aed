/** What took how long, one bar under the other. */

import type { Conversation, LogEvent } from "@heald/client";
import { useMemo } from "react";
import { duration } from "../parts/format";
import { Rows } from "../parts/rows";
import { waterfall as texts } from "../texts/events";

export function Waterfall({ conversation, version }: { conversation: Conversation; version: number }) {
  // oxlint-disable-next-line react/exhaustive-deps -- events are added in place; the version says that there are more
  const spans = useMemo(() => spansOf(conversation.events), [conversation, version]);
  const now = conversation.events.at(-1)?.time ?? 0;
  const parts = useMemo(() => grouped(spans), [spans]);
  if (spans.length === 0) return <div className="empty">{texts.nothingHasRunYetSend}</div>;
  return <Rows label={texts.timings} rows={parts} height={28} render={(part) => <Bar key={part.span.key} part={part} now={now} />} />;
}

interface Part {
  span: Span;
  /** The exchange that it is drawn within. */
  whole: Span;
}

/** Every bar is drawn within its own exchange: what lies between two of them is a person's time. */
function grouped(spans: readonly Span[]): Part[] {
  let whole: Span | undefined;
  return spans.map((span) => {
    if (span.kind === "exchange" || whole === undefined) whole = span;
    return { span, whole };
  });
}

function Bar({ part, now }: { part: Part; now: number }) {
  const { span, whole } = part;
  const length = Math.max(0.001, (whole.end ?? now) - whole.start);
  const left = (100 * (span.start - whole.start)) / length;
  const width = (100 * ((span.end ?? now) - span.start)) / length;
  const time = ((span.end ?? now) - span.start) * 1000;
  return (
    <div className="bar-row">
      <span className={`bar-name truncate of-${span.kind}`}>{span.name}</span>
      <span className="bar-track">
        <span
          className={`bar of-${span.kind} ${span.outcome === "discarded" || span.outcome === "failed" || span.outcome === "error" ? "bad" : ""}`}
          style={{ left: `${Math.min(99.5, left)}%`, width: `${Math.max(0.5, Math.min(100 - left, width))}%` }}
        />
      </span>
      <span className="bar-time numeric">
        {span.end === null ? "…" : duration(time)}
      </span>
    </div>
  );
}

interface Span {
  key: string;
  kind: "exchange" | "message" | "tool";
  name: string;
  start: number;
  end: number | null;
  outcome: string;
}

/** How long things took, from a log: exchanges, messages and calls as spans. */
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
        begin(`m${event.data.message_id}`, "message", event.data.model, event.time);
        break;
      case "message_stop":
        end(`m${event.data.message_id}`, event.time, "");
        break;
      case "message_discarded":
        end(`m${event.data.message_id}`, event.time, "discarded");
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
