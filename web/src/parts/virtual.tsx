/** A long list of which only what can be seen is there. Heights are measured; the end is followed while it is in view. */

import { type ReactNode, useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "react";
import { FindBar, markWords } from "./find_bar";
import { Offsets } from "./offsets";

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
  /** All text of an item, for finding words also in what is not there. */
  textOf?(item: T): string;
}

const OVERSCAN = 800;
const NEAR = 48;
/** Frames until an item that is scrolled to has its place. */
const FRAMES = 8;

export function VirtualList<T extends { key: string }>({ items, version, seq, busy, render, footer, estimate = 72, label, className = "", textOf }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const position = useRef(0);
  /** The position of the end when it was last measured. */
  const end = useRef(0);
  const height = useRef(800);
  const offsets = useMemo(() => new Offsets(estimate), [estimate]);
  const [, rerender] = useReducer((count: number) => count + 1, 0);

  const range = (): [number, number] => {
    offsets.update(items);
    const top = atEnd.current ? Math.max(0, offsets.total - height.current) : (box.current?.scrollTop ?? 0);
    return offsets.between(top - OVERSCAN, top + height.current + OVERSCAN);
  };
  const isStale = useRef<() => boolean>(() => false);

  // All measuring is done here, where the browser has just laid everything out: asking earlier would make it do so twice.
  const observer = useMemo(() => {
    if (typeof ResizeObserver === "undefined") return null;
    return new ResizeObserver((entries) => {
      let changed = false;
      for (const { target } of entries) {
        const element = target as HTMLElement;
        if (element === box.current) height.current = element.clientHeight;
        else if (element !== content.current) changed = measured(offsets, element) || changed;
      }
      const view = box.current;
      if (view !== null) {
        end.current = view.scrollHeight - view.clientHeight;
        if (atEnd.current) view.scrollTop = view.scrollHeight;
      }
      if (atEnd.current ? isStale.current() : changed) rerender();
    });
  }, [offsets]);
  const observed = useMemo(
    () => (element: HTMLElement | null) => {
      if (element === null || observer === null) return undefined;
      observer.observe(element);
      return () => observer.unobserve(element);
    },
    [observer],
  );
  useEffect(() => {
    if (observer === null || box.current === null || content.current === null) return undefined;
    observer.observe(box.current);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, [observer]);

  const [first, last] = range();
  useLayoutEffect(() => {
    isStale.current = () => range().join() !== `${first},${last}`;
  });
  const find = (words: string) => {
    const needle = words.toLowerCase();
    return items.flatMap((item, at) => (textOf?.(item).toLowerCase().includes(needle) === true ? [at] : []));
  };
  const showing = useRef(0);
  const show = (index: number | null, words: string) => {
    const number = ++showing.current;
    if (index === null) {
      markWords(null, "");
      return;
    }
    // Heights are estimated until an item is there: the place is found anew once it was measured.
    const settle = (tries: number) => {
      const view = box.current;
      if (view === null || number !== showing.current) return;
      atEnd.current = false;
      const element = view.querySelector(`[data-at="${index}"]`);
      if (element === null || tries > FRAMES - 3) {
        view.scrollTop = Math.max(0, offsets.at(index) - 40);
        rerender();
      } else markWords(element, words);
      if (tries > 0) requestAnimationFrame(() => settle(tries - 1));
    };
    settle(FRAMES);
  };
  const list = (
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
        // Who goes down to the end reaches it, though more was added below in the moment before this is called.
        const reached = scrollTop > position.current ? Math.min(end.current, scrollHeight - clientHeight) : scrollHeight - clientHeight;
        const near = reached - scrollTop < NEAR;
        // Who does not go up stays at the end, though more was added below before the browser told of our own scrolling.
        atEnd.current = near || (atEnd.current && scrollTop >= position.current - 1);
        position.current = scrollTop;
        if (isStale.current()) rerender();
      }}
    >
      <div ref={content}>
        <div style={{ height: offsets.at(first) }} />
        {items.slice(first, last).map((item, at) => (
          <div key={item.key} data-at={first + at} ref={observed} className="virtual-item">
            {render(item)}
          </div>
        ))}
        <div style={{ height: Math.max(0, offsets.total - offsets.at(last)) }} />
        {footer}
      </div>
    </div>
  );
  if (textOf === undefined) return list;
  return (
    <>
      <FindBar find={find} onShow={show} />
      {list}
    </>
  );
}

function measured(offsets: Offsets, element: HTMLElement): boolean {
  const height = element.offsetHeight;
  return height > 0 && offsets.measure(Number(element.dataset["at"]), height);
}
