/** Very many rows of the same height. */

import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from "react";

interface Props<T> {
  rows: readonly T[];
  height: number;
  render(row: T, at: number): ReactNode;
  label: string;
  /** Keep the last row in view as long as it is. */
  follow?: boolean;
  /** The row that is brought into view once it is there; -1 for none. */
  at?: number;
}

export function Rows<T>({ rows, height, render, label, follow = false, at = -1 }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(follow);
  const [view, setView] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = new ResizeObserver(() => setView({ top: element.scrollTop, height: element.clientHeight }));
    size.observe(element);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (follow && atEnd.current && element !== null) element.scrollTop = element.scrollHeight;
  }, [rows.length, follow]);
  const isThere = at >= 0;
  const showRow = useEffectEvent(() => box.current?.scrollTo({ top: Math.max(0, (at - 3) * height) }));
  useEffect(() => {
    if (isThere) showRow();
  }, [isThere]);
  const first = Math.max(0, Math.floor(view.top / height) - 10);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / height) + 10);
  return (
    <div
      ref={box}
      className="rows"
      tabIndex={0}
      role="region"
      aria-label={label}
      onScroll={(event) => {
        const element = event.currentTarget;
        atEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * height;
        setView({ top: element.scrollTop, height: element.clientHeight });
      }}
    >
      <div style={{ height: rows.length * height, position: "relative" }}>
        <div style={{ position: "absolute", top: first * height, left: 0, right: 0 }}>
          {rows.slice(first, last).map((row, index) => render(row, first + index))}
        </div>
      </div>
    </div>
  );
}
