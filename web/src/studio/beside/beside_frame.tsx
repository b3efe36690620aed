/** The finished page of one variant beside others. It scrolls with them, and says which element was picked in it. */

import { useEffect, useEffectEvent, useRef, useState } from "react";
import { besideFrame as texts } from "../../texts/beside";
import type { VariantView } from "../../wire/api";
import type { Part } from "./part";

/** The width of the window that a page is laid out for. */
const WIDTH = 1280;

interface Props {
  variant: VariantView;
  isPicking: boolean;
  /** The path of the element that is picked in this page; empty if none is. */
  picked: string;
  isFull: boolean;
  /** Where all pages are scrolled to, and by which variant; its own page stays. */
  scroll: { top: number; by: number };
  onScroll(top: number): void;
  onPick(part: Part): void;
}

export function BesideFrame({ variant, isPicking, picked, isFull, scroll, onScroll, onPick }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ width: WIDTH, height: 600 });
  const [loads, setLoads] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = new ResizeObserver(() => setRoom({ width: element.clientWidth, height: element.clientHeight }));
    size.observe(element);
    return () => size.disconnect();
  }, []);
  const onMessage = useEffectEvent((event: MessageEvent<unknown>) => {
    if (frame.current === null || event.source !== frame.current.contentWindow) return;
    const data = event.data as Record<string, unknown> | null;
    if (data === null || typeof data !== "object") return;
    if (data["heald"] === "scrolled") onScroll(Number(data["top"]) || 0);
    else if (data["heald"] === "selected" && isPicking) {
      const [path, html] = [String(data["path"] ?? "").slice(0, 1000), String(data["html"] ?? "").slice(0, 8000)];
      onPick({ variant: variant.index, path, html });
    }
  });
  useEffect(() => {
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, []);
  const post = (message: object) => frame.current?.contentWindow?.postMessage(message, "*");
  useEffect(() => post({ heald: "follow", on: true }), [loads]);
  useEffect(() => post({ heald: "select", on: isPicking, plain: true }), [isPicking, loads]);
  useEffect(() => post({ heald: "mark", paths: picked === "" ? [] : [picked] }), [picked, loads]);
  useEffect(() => {
    if (scroll.by !== variant.index) post({ heald: "scroll", top: scroll.top });
  }, [scroll, variant.index, loads]);
  const scale = isFull ? 1 : Math.min(1, room.width / WIDTH);
  return (
    <div className={`beside-room ${isFull ? "full" : ""}`} ref={box} {...(isFull ? { tabIndex: 0, role: "group", "aria-label": texts.variantAtFullSize(variant.index + 1) } : {})}>
      <iframe
        ref={frame}
        title={texts.pageOfVariant(variant.index + 1)}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        src={variant.preview}
        onLoad={() => setLoads(loads + 1)}
        style={{ width: Math.max(WIDTH, room.width), height: room.height / scale, transform: `scale(${scale})` }}
      />
    </div>
  );
}
