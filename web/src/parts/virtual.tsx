/** A long list of which only what can be seen is there. Heights are measured; the end is followed while it is in view. */

import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "react";

interface Props<T extends { key: string }> {
  items: readonly T[];
  /** Grows with every change of `items`, which is changed in place. */
  version: number;
  /** The last event that is in it. */
  seq: number;
  /** There is more that is not here yet. */
  busy: boolean;
  render(item: T): ReactNode;
  /** What stands behind the last item. */
  footer?: ReactNode;
  estimate?: number;
  label: string;
  className?: string;
}

const OVERSCAN = 800;
const NEAR = 48;

export function VirtualList<T extends { key: string }>({ items, version, seq, busy, render, footer, estimate = 72, label, className = "" }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const heights = useRef(new Map<string, number>());
  const atEnd = useRef(true);
  const [, again] = useReducer((count: number) => count + 1, 0);
  const observer = useMemo(() => {
    if (typeof ResizeObserver === "undefined") return null;
    return new ResizeObserver((entries) => {
      let changed = false;
      for (const entry of entries) {
        const element = entry.target as HTMLElement;
        const key = element.dataset["key"] ?? "";
        const height = element.offsetHeight;
        if (height > 0 && heights.current.get(key) !== height) {
          heights.current.set(key, height);
          changed = true;
        }
      }
      if (changed) again();
    });
  }, []);

  const offsets = offsetsOf(items, heights.current, estimate);
  const total = offsets[items.length] ?? 0;
  const view = box.current;
  const height = view?.clientHeight ?? 800;
  const top = atEnd.current ? Math.max(0, total - height) : (view?.scrollTop ?? 0);
  const first = Math.max(0, search(offsets, top - OVERSCAN) - 1);
  const last = Math.min(items.length, search(offsets, top + height + OVERSCAN) + 1);

  const settle = useCallback(() => {
    const element = box.current;
    if (element !== null && atEnd.current) element.scrollTop = element.scrollHeight;
  }, []);
  useLayoutEffect(settle);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = new ResizeObserver(() => {
      settle();
      again();
    });
    size.observe(element);
    return () => size.disconnect();
  }, [settle]);

  const measured = useCallback(
    (element: HTMLElement | null) => {
      if (element === null || observer === null) return undefined;
      observer.observe(element);
      return () => observer.unobserve(element);
    },
    [observer],
  );

  return (
    <div
      ref={box}
      className={`virtual ${className}`}
      tabIndex={0}
      role="log"
      aria-label={label}
      aria-live="off"
      data-version={version}
      data-seq={seq}
      aria-busy={busy}
      onScroll={(event) => {
        const { scrollHeight, scrollTop, clientHeight } = event.currentTarget;
        atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
        again();
      }}
    >
      <div style={{ height: offsets[first] ?? 0 }} />
      {items.slice(first, last).map((item) => (
        <div key={item.key} data-key={item.key} ref={measured} className="virtual-item">
          {render(item)}
        </div>
      ))}
      <div style={{ height: Math.max(0, total - (offsets[last] ?? total)) }} />
      {footer}
    </div>
  );
}

function offsetsOf(items: readonly { key: string }[], heights: ReadonlyMap<string, number>, estimate: number): Float64Array {
  const sums = new Float64Array(items.length + 1);
  items.forEach((item, at) => {
    sums[at + 1] = (sums[at] ?? 0) + (heights.get(item.key) ?? estimate);
  });
  return sums;
}

/** The first place whose offset is not below `value`. */
function search(offsets: Float64Array, value: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
