/**
 * A frame for a page that nobody trusts: an opaque origin with scripts and nothing else. A page that is still being written
 * is given to an empty page of the same origin and under the same policy as the finished one.
 *
 * Two frames take turns: what is new loads unseen behind what is shown, so a growing page does not flicker.
 */

import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import type { Draft } from "../log/drafts";
import { asDocument } from "./draft";
import { asPressedKey, type PressedKey } from "./preview_keys";

/** A page at an address, or one that is still being written, with the address that its preview will have. */
export type Source = { src: string } | { draft: Draft; base: string };

/** What a preview tells of itself. It is data: nothing in it is believed or run. */
export type PreviewMessage =
  | { heald: "console"; level: string; message: string }
  | { heald: "error"; message: string }
  | { heald: "selected"; html: string; path: string; index: number; count?: number; element: Element }
  | { heald: "size"; width: number; height: number }
  | { heald: "lost" }
  | { heald: "escape" }
  | ({ heald: "key" } & PressedKey)
  | { heald: "ready" }
  | { heald: "page"; path: string; missing: boolean }
  | { heald: "outside"; address: string }
  | { heald: "empty" };

/** What an element shows, for changing it directly. */
export interface Element {
  /** Its text; null if it holds other elements. */
  text: string | null;
  /** The address of a picture. */
  source: string | null;
  color: string;
  background: string;
  size: string;
  padding: string;
}

/** A change by hand that is shown before it is applied. */
export interface LiveEdit {
  path: string;
  text?: string;
  source?: string;
  style: Readonly<Record<string, string>>;
}

interface Props {
  source: Source | null;
  title: string;
  /** Changes to load the same again. */
  count?: number;
  selecting?: boolean;
  /** The path of the selected element; empty if there is none. */
  selection?: string;
  edit?: LiveEdit | null;
  /** At least this long between two pictures of a page that grows; longer if it takes long to load. */
  pause?: number;
  inert?: boolean;
  /** It is loaded when it comes near to what is seen. */
  lazy?: boolean;
  onPreviewMessage?(message: PreviewMessage): void;
  /** Nothing is shown yet, or no longer nothing. */
  onWaiting?(waiting: boolean): void;
}

/** A page that grows is loading for at most one part of so many, but is never older than this, in milliseconds. */
const PARTS = 8;
const MOST = 6000;

/** A page that does not say that it is there is shown after so many milliseconds. */
const LATE = 3000;

/** An answer without the preview's script is not a page of the project: it is asked for anew, after these pauses in milliseconds. */
const SILENT = 1500;
const PAUSES = [500, 2000, 6000];

interface Slot {
  key: number;
  src: string;
  /** What the empty page at the address is to show. */
  html: string | null;
}

export function Frame({ source, title, count = 0, selecting = false, selection = "", edit = null, pause = 0, inert = false, lazy = false, onPreviewMessage, onWaiting }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [slots, setSlots] = useState<{ shown: Slot | null; coming: Slot | null }>({ shown: null, coming: null });
  const last = useRef(0);
  const took = useRef(0);
  const keys = useRef(0);
  const tries = useRef(0);
  const empty = useRef(true);
  const name = source === null ? null : "src" in source ? source.src : source.draft;

  // A source is its address or its draft; the object around it is made anew with every render.
  const currentSource = useEffectEvent(() => source);
  useEffect(() => {
    const source = currentSource();
    if (source === null || name === "") return undefined;
    const still = "src" in source;
    const begin = () => {
      last.current = performance.now();
      tries.current = 0;
      const key = ++keys.current;
      const coming =
        "src" in source ? { key, src: source.src, html: null } : { key, src: `${source.base}_draft`, html: asDocument(source.draft, source.base) };
      setSlots((now) => ({ ...now, coming }));
    };
    const wait = still ? 0 : Math.max(0, last.current + Math.max(pause, Math.min(MOST, PARTS * took.current)) - performance.now());
    const timer = window.setTimeout(begin, wait);
    return () => window.clearTimeout(timer);
  }, [name, count, pause]);

  const coming = useRef<Slot | null>(null);
  useLayoutEffect(() => {
    coming.current = slots.coming;
    empty.current = slots.shown === null;
  }, [slots]);
  const loaded = useCallback((key: number) => {
    if (coming.current?.key === key) took.current = performance.now() - last.current;
    setSlots((now) => (now.coming?.key === key ? { shown: now.coming, coming: null } : now));
  }, []);

  // The preview's script reports from every page of the project; an error of the server or of the network is silent.
  const arrived = useCallback(
    (key: number) => {
      window.setTimeout(() => {
        if (coming.current?.key !== key) return;
        const pause = PAUSES[tries.current];
        if (pause === undefined) {
          loaded(key);
          return;
        }
        tries.current += 1;
        window.setTimeout(() => {
          if (coming.current?.key !== key) return;
          const next = ++keys.current;
          setSlots((now) => (now.coming?.key === key ? { ...now, coming: { ...now.coming, key: next } } : now));
        }, pause);
      }, SILENT);
    },
    [loaded],
  );

  useEffect(() => {
    let servedKey = 0;
    const onMessage = (event: MessageEvent<unknown>) => {
      const frames = [...(box.current?.querySelectorAll("iframe") ?? [])];
      const frame = frames.find((candidate) => candidate.contentWindow === event.source);
      if (frame === undefined) return;
      const key = Number(frame.dataset["key"]);
      const slot = coming.current;
      const message = asPreviewMessage(event.data);
      // A page is shown when all of it is there, or at once where nothing is shown yet.
      if (message?.heald === "ready") {
        if (empty.current) loaded(key);
        return;
      }
      if (slot?.key === key && slot.html !== null) {
        if (message?.heald === "size") loaded(key);
        if (message?.heald !== "empty" || servedKey === key) return;
        servedKey = key;
        frame.contentWindow?.postMessage({ heald: "draft", html: slot.html }, "*");
        window.setTimeout(() => loaded(key), LATE);
      } else if (message !== null) {
        if (message.heald === "size") loaded(key);
        onPreviewMessage?.(message);
      }
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [onPreviewMessage, loaded]);

  useEffect(() => {
    const frame = box.current?.querySelector<HTMLIFrameElement>("iframe.shown");
    if (selecting) frame?.focus();
    frame?.contentWindow?.postMessage({ heald: "select", on: selecting }, "*");
  }, [selecting, slots.shown]);

  useEffect(() => postToShown(box.current, { heald: "mark", path: selection }), [selection, slots.shown]);
  useEffect(() => postToShown(box.current, { heald: "edit", edit }), [edit, slots.shown]);

  const waiting = slots.shown === null;
  useEffect(() => onWaiting?.(waiting), [waiting, onWaiting]);

  return (
    <div className={`frame ${waiting ? "waiting" : ""}`} ref={box} inert={inert}>
      {[slots.shown, slots.coming].map(
        (slot, at) =>
          slot !== null && (
            <iframe
              key={slot.key}
              className={at === 0 ? "shown" : "coming"}
              title={at === 0 ? title : `${title}, loading`}
              sandbox="allow-scripts"
              referrerPolicy="no-referrer"
              loading={lazy ? "lazy" : undefined}
              aria-hidden={at === 0 && !inert ? undefined : true}
              tabIndex={inert || at === 1 ? -1 : undefined}
              onLoad={slot.html === null ? () => arrived(slot.key) : undefined}
              data-key={slot.key}
              src={slot.src}
            />
          ),
      )}
    </div>
  );
}

function postToShown(box: HTMLElement | null, message: object): void {
  box?.querySelector<HTMLIFrameElement>("iframe.shown")?.contentWindow?.postMessage(message, "*");
}

function asPreviewMessage(data: unknown): PreviewMessage | null {
  if (typeof data !== "object" || data === null) return null;
  const said = data as Record<string, unknown>;
  const text = (value: unknown, most: number) => String(value ?? "").slice(0, most);
  switch (said["heald"]) {
    case "console":
      return { heald: "console", level: text(said["level"], 20), message: text(said["message"] ?? said["text"], 2000) };
    case "error":
      return { heald: "error", message: text(said["message"] ?? said["text"], 2000) };
    case "selected": {
      const count = typeof said["count"] === "number" ? { count: Math.trunc(said["count"]) } : {};
      const look = (typeof said["look"] === "object" && said["look"] !== null ? said["look"] : {}) as Record<string, unknown>;
      const element: Element = {
        text: typeof said["text"] === "string" ? text(said["text"], 4000) : null,
        source: typeof said["source"] === "string" ? text(said["source"], 2000) : null,
        color: text(look["color"], 60),
        background: text(look["background"], 60),
        size: text(look["size"], 40),
        padding: text(look["padding"], 60),
      };
      return { heald: "selected", html: text(said["html"], 8000), path: text(said["path"], 1000), index: Math.trunc(Number(said["index"])) || 0, ...count, element };
    }
    case "empty":
      return { heald: "empty" };
    case "page":
      return { heald: "page", path: text(said["path"], 500), missing: said["missing"] === true };
    case "outside":
      return { heald: "outside", address: text(said["address"], 500) };
    case "ready":
      return { heald: "ready" };
    case "lost":
      return { heald: "lost" };
    case "key": {
      const key = asPressedKey(said);
      return key === null ? null : { heald: "key", ...key };
    }
    case "escape":
      return { heald: "escape" };
    case "size":
      return { heald: "size", width: Number(said["width"]) || 0, height: Number(said["height"]) || 0 };
    default:
      return null;
  }
}
