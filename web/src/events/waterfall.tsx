/** What took how long, one bar under the other. */

import { useMemo } from "react";
import type { Conversation } from "../log/conversation";
import { duration } from "../parts/format";
import { Rows } from "../parts/rows";
import { type Span, spansOf } from "./spans";

export function Waterfall({ conversation, version }: { conversation: Conversation; version: number }) {
  const spans = useMemo(() => spansOf(conversation.events), [conversation, version]);
  const now = conversation.events.at(-1)?.time ?? 0;
  const parts = useMemo(() => grouped(spans), [spans]);
  if (spans.length === 0) return <div className="empty">Nothing has run yet.</div>;
  return <Rows label="Timings" rows={parts} height={28} render={(part) => <Bar key={part.span.key} part={part} now={now} />} />;
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
