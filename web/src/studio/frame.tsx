/**
 * A frame for a page that nobody trusts: an opaque origin with scripts and nothing else. A page that is still being written
 * is given to an empty page of the same origin and under the same policy as the finished one.
 *
 * Two frames take turns: a new page loads behind the one that is shown, is brought to where the reader was, and takes its place
 * once it is painted. A page that is being written stays in its frame and is changed in place.
 */

import type { Draft } from "@heald/client";
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { frame as texts } from "../texts/start";
import { asDocument } from "./draft";
import { asPressedKey, type PressedKey } from "./preview_keys";
import { asSelection, type Selection } from "./visual/picked_element";
import { asVisualMessage, type VisualMessage } from "./visual/visual_message";

/** A page at an address, or one that is still being written, with the address that its preview will have. */
export type Source = { src: string } | { draft: Draft; base: string };

/** What a preview tells of itself. It is data: nothing in it is believed or run. */
export type PreviewMessage =
  | { heald: "console"; level: string; message: string }
  | { heald: "error"; message: string }
  | { heald: "selected"; html: string; path: string; index: number; count?: number; selection: Selection }
  | VisualMessage
  | { heald: "size"; width: number; height: number }
  | { heald: "lost" }
  | { heald: "escape" }
  | ({ heald: "key" } & PressedKey)
  | { heald: "ready" }
  | { heald: "view"; question: number; view: ViewState }
  | { heald: "restored" }
  | { heald: "drafted"; work: number }
  | { heald: "page"; path: string; missing: boolean }
  | { heald: "outside"; address: string }
  | { heald: "empty" };

/** Where a reader is in a page. It is made by the script of previews, and only passed on to the next preview. */
interface ViewState {
  /** The pixel of the page that is last seen; what is above is scrolled away or in view. */
  bottom: number;
  top: number;
  /** The element with the focus. */
  focus: unknown;
  [part: string]: unknown;
}

/** A change by hand that is shown before it is applied. */
export interface LiveEdit {
  path: string;
  /** The paths of other elements that get the same style. */
  others: readonly string[];
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
  /** The paths of the selected elements. */
  selection?: readonly string[];
  /** Whether the tree of elements is looked at. */
  layers?: boolean;
  /** A message for the page that is shown; another object is sent again. */
  command?: object | null;
  edit?: LiveEdit | null;
  inert?: boolean;
  /** It is loaded when it comes near to what is seen. */
  lazy?: boolean;
  onPreviewMessage?(message: PreviewMessage): void;
  /** Nothing is shown yet, or no longer nothing. */
  onWaiting?(waiting: boolean): void;
}

/** A page that grows spends at most one part of so many on its updates, and waits at most so many milliseconds for the next one. */
const PARTS = 3;
const MOST = 4000;

/** A page that does not say that it is there is shown after so many milliseconds. */
const LATE = 3000;
/** The same for a page that is there, and does not say that it is where the reader was. */
const UNRESTORED = 1500;

/** An answer without the preview's script is not a page of the project: it is asked for anew, after these pauses in milliseconds. */
const SILENT = 1500;
const PAUSES = [500, 2000, 6000];

interface Slot {
  key: number;
  src: string;
  /** The draft that the empty page at the address shows, by its path; null for a finished page. */
  draft: string | null;
  /** The page is loaded a second time: what was typed into it is not kept. */
  isReload: boolean;
}

/** A draft on its way to its frame. */
interface Delivery {
  /** What the frame does not have yet. */
  html: string | null;
  /** It has not said yet that it shows the last one. */
  isBusy: boolean;
  isLoaded: boolean;
}

const NONE: readonly string[] = [];

export function Frame({ source, title, count = 0, selecting = false, selection = NONE, layers = false, command = null, edit = null, inert = false, lazy = false, onPreviewMessage, onWaiting }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [slots, setSlots] = useState<{ visible: Slot | null; incoming: Slot | null }>({ visible: null, incoming: null });
  const current = useRef(slots);
  const last = useRef(-Infinity);
  /** The milliseconds that the page worked at its last update: not those that it waited for the screen. */
  const work = useRef(0);
  const keys = useRef(0);
  const tries = useRef(0);
  const counted = useRef(count);
  const delivery = useRef<Delivery>({ html: null, isBusy: false, isLoaded: false });
  /** How far the incoming page is: it asks for the view of the visible one, is brought there, and compares once more. */
  const swap = useRef<{ key: number; view: string | null; height: number }>({ key: 0, view: null, height: Infinity });
  /** The last question for a view. An answer to an earlier one is for a page that is not the incoming one any more, or is not there yet. */
  const question = useRef({ number: 0, isOpen: false });
  const name = source === null ? null : "src" in source ? source.src : source.draft;

  const post = useCallback((key: number | undefined, message: object) => {
    box.current?.querySelector<HTMLIFrameElement>(`iframe[data-key="${key ?? 0}"]`)?.contentWindow?.postMessage(message, "*");
  }, []);
  const askForView = useCallback(() => {
    question.current = { number: question.current.number + 1, isOpen: true };
    post(current.current.visible?.key, { heald: "capture", question: question.current.number });
  }, [post]);
  const deliver = useCallback(() => {
    const { html, isBusy, isLoaded } = delivery.current;
    const slot = current.current.incoming ?? current.current.visible;
    if (html === null || isBusy || !isLoaded || slot === null || slot.draft === null) return;
    delivery.current = { html: null, isBusy: true, isLoaded };
    post(slot.key, { heald: "draft", html });
  }, [post]);

  // A source is its address or its draft; the object around it is made anew with every render.
  const currentSource = useEffectEvent(() => source);
  useEffect(() => {
    const source = currentSource();
    if (source === null || name === "") return undefined;
    const still = "src" in source;
    const begin = () => {
      last.current = performance.now();
      const { visible, incoming } = current.current;
      const newest = incoming ?? visible;
      const isReload = counted.current !== count && newest !== null && "src" in source && newest.src === source.src;
      counted.current = count;
      const next = { key: keys.current + 1, src: "src" in source ? source.src : `${source.base}_draft`, draft: "src" in source ? null : source.draft.path, isReload };
      if (!("src" in source)) {
        const html = asDocument(source.draft, source.base);
        if (newest !== null && newest.src === next.src && newest.draft === next.draft) {
          delivery.current = { ...delivery.current, html };
          deliver();
          return;
        }
        delivery.current = { html, isBusy: false, isLoaded: false };
      }
      tries.current = 0;
      keys.current = next.key;
      question.current.isOpen = false;
      swap.current = { key: next.key, view: null, height: Infinity };
      setSlots((now) => ({ ...now, incoming: next }));
    };
    const wait = still ? 0 : Math.max(0, last.current + Math.min(MOST, PARTS * work.current) - performance.now());
    const timer = window.setTimeout(begin, wait);
    return () => window.clearTimeout(timer);
  }, [name, count, deliver]);

  useLayoutEffect(() => {
    current.current = slots;
  }, [slots]);
  const focusAfterSwap = useRef(false);
  const focus = useRef<unknown>(null);
  const loaded = useCallback((key: number) => {
    const previous = box.current?.querySelector<HTMLIFrameElement>("iframe.shown");
    const hadFocus = previous !== null && previous === document.activeElement;
    setSlots((now) => (now.incoming?.key === key ? { visible: now.incoming, incoming: null } : now));
    if (hadFocus && current.current.incoming?.key === key) focusAfterSwap.current = true;
  }, []);
  useLayoutEffect(() => {
    if (!focusAfterSwap.current) return;
    focusAfterSwap.current = false;
    box.current?.querySelector<HTMLIFrameElement>("iframe.shown")?.focus();
    post(slots.visible?.key, { heald: "focus", focus: focus.current }); // a frame may focus an element once it has the focus itself
  }, [slots.visible, post]);

  // A page that is there is shown as soon as it is where the reader was.
  const prepare = useCallback(
    (key: number) => {
      const { visible } = current.current;
      if (visible === null) {
        loaded(key);
        return;
      }
      if (swap.current.key !== key || swap.current.view !== null) return;
      if (inert) {
        swap.current = { ...swap.current, view: "" };
        post(key, { heald: "restore", view: null });
      } else askForView();
      if (inert || current.current.incoming?.draft === null) window.setTimeout(() => loaded(key), UNRESTORED);
    },
    [inert, loaded, post, askForView],
  );
  const onView = useCallback(
    (view: ViewState, answered: number) => {
      const { visible, incoming } = current.current;
      if (visible === null || incoming === null || swap.current.key !== incoming.key) return;
      if (!question.current.isOpen || question.current.number !== answered) return;
      question.current.isOpen = false;
      // A page that is written anew is shown when it has come to where the reader is.
      const isSameVariant = folderOf(visible.src) === folderOf(incoming.src);
      if (incoming.draft !== null && isSameVariant && view.top > 0 && view.bottom > swap.current.height) return;
      const state = incoming.isReload ? { ...view, fields: [], details: [], focus: null } : view;
      const text = JSON.stringify(state);
      focus.current = state.focus;
      if (text === swap.current.view) {
        loaded(incoming.key);
        return;
      }
      if (swap.current.view === null) window.setTimeout(() => loaded(incoming.key), UNRESTORED);
      swap.current = { ...swap.current, view: text };
      post(incoming.key, { heald: "restore", view: state });
    },
    [loaded, post],
  );

  // The preview's script reports from every page of the project; an error of the server or of the network is silent.
  const arrived = useCallback(
    (key: number) => {
      window.setTimeout(() => {
        if (current.current.incoming?.key !== key || swap.current.view !== null) return;
        const pause = PAUSES[tries.current];
        if (pause === undefined) {
          loaded(key);
          return;
        }
        tries.current += 1;
        window.setTimeout(() => {
          if (current.current.incoming?.key !== key) return;
          const next = ++keys.current;
          question.current.isOpen = false;
          swap.current = { key: next, view: null, height: Infinity };
          setSlots((now) => (now.incoming?.key === key ? { ...now, incoming: { ...now.incoming, key: next } } : now));
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
      const { visible, incoming } = current.current;
      const slot = incoming?.key === key ? incoming : visible;
      const message = asPreviewMessage(event.data);
      if (message === null) return;
      switch (message.heald) {
        case "empty":
          if (slot?.draft === null || servedKey === key) return;
          servedKey = key;
          if (delivery.current.html !== null) post(key, { heald: "draft", html: delivery.current.html });
          delivery.current = { html: null, isBusy: true, isLoaded: false };
          window.setTimeout(() => {
            if (swap.current.height === Infinity) loaded(key);
          }, LATE);
          return;
        case "ready":
          if (visible === null) loaded(key); // a page is shown when all of it is there, or at once where nothing is shown yet
          if (slot?.draft === null) return;
          delivery.current = { ...delivery.current, isBusy: false, isLoaded: true };
          deliver();
          return;
        case "drafted":
          work.current = message.work;
          delivery.current = { ...delivery.current, isBusy: false };
          deliver();
          return;
        case "view":
          if (slot === visible) onView(message.view, message.question);
          return;
        case "restored":
          if (inert) loaded(key);
          else if (slot === incoming) askForView(); // the reader may have moved on meanwhile
          return;
        case "size":
          if (slot !== null && slot === incoming) {
            if (slot.draft !== null) swap.current = { ...swap.current, height: message.height };
            prepare(key);
          }
          if (slot?.draft === null) onPreviewMessage?.(message);
          return;
        case "key":
        case "escape":
          onPreviewMessage?.(message);
          return;
        default:
          // Half a page is always wrong, and what is wrong with a page that is about to be replaced is of no use.
          if (slot?.draft === null && (slot === incoming || incoming === null || incoming.draft !== null)) onPreviewMessage?.(message);
      }
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [onPreviewMessage, loaded, prepare, onView, askForView, deliver, post, inert]);

  useEffect(() => {
    const frame = box.current?.querySelector<HTMLIFrameElement>("iframe.shown");
    if (selecting) frame?.focus();
    frame?.contentWindow?.postMessage({ heald: "select", on: selecting }, "*");
  }, [selecting, slots.visible]);

  const paths = JSON.stringify(selection); // the list is made anew with every render
  useEffect(() => postToShown(box.current, { heald: "mark", paths: JSON.parse(paths) as string[] }), [paths, slots.visible]);
  useEffect(() => postToShown(box.current, { heald: "layers", on: layers }), [layers, slots.visible]);
  useEffect(() => {
    if (command !== null) postToShown(box.current, command);
  }, [command]);
  useEffect(() => postToShown(box.current, { heald: "edit", edit }), [edit, slots.visible]);

  const waiting = slots.visible === null;
  useEffect(() => onWaiting?.(waiting), [waiting, onWaiting]);

  return (
    <div className={`frame ${waiting ? "waiting" : ""}`} ref={box} inert={inert}>
      {[slots.visible, slots.incoming].map(
        (slot, at) =>
          slot !== null && (
            <iframe
              key={slot.key}
              className={at === 0 ? "shown" : "coming"}
              title={at === 0 ? title : texts.loading(title)}
              sandbox="allow-scripts"
              referrerPolicy="no-referrer"
              loading={lazy ? "lazy" : undefined}
              aria-hidden={at === 0 && !inert ? undefined : true}
              tabIndex={inert || at === 1 ? -1 : undefined}
              onLoad={slot.draft === null ? () => arrived(slot.key) : undefined}
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

/** The part of an address that all pages of a variant share. */
function folderOf(src: string): string {
  return /\/preview\/[^/]+\//.exec(src)?.[0] ?? src;
}

/** The most characters of a view that is passed on. */
const MOST_OF_VIEW = 500_000;

function isShort(view: object): boolean {
  return JSON.stringify(view).length <= MOST_OF_VIEW;
}

function asViewState(view: Readonly<Record<string, unknown>>): ViewState {
  const list = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : []);
  const { page, left, focus } = view;
  return {
    page: String(page),
    left: Number(left) || 0,
    top: Number(view["top"]) || 0,
    bottom: Number(view["bottom"]) || 0,
    boxes: list(view["boxes"]),
    fields: list(view["fields"]),
    details: list(view["details"]),
    focus: Array.isArray(focus) ? focus : null,
  };
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
      return { heald: "selected", html: text(said["html"], 8000), path: text(said["path"], 4000), index: Math.trunc(Number(said["index"])) || 0, ...count, selection: asSelection(said) };
    }
    case "empty":
      return { heald: "empty" };
    case "page":
      return { heald: "page", path: text(said["path"], 500), missing: said["missing"] === true };
    case "outside":
      return { heald: "outside", address: text(said["address"], 500) };
    case "ready":
      return { heald: "ready" };
    case "restored":
      return { heald: "restored" };
    case "drafted":
      return { heald: "drafted", work: Number(said["work"]) || 0 };
    case "view": {
      const view = said["view"];
      return typeof view === "object" && view !== null && isShort(view) ? { heald: "view", question: Number(said["question"]), view: asViewState(view as Record<string, unknown>) } : null;
    }
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
      return asVisualMessage(said);
  }
}
