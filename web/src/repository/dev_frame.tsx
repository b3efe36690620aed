/**
 * The page of a dev server. It has an origin of its own, with another host than this page, so that it may keep what it stores
 * and cannot reach anything here. Hot reload happens inside of it.
 */

import { useEffect, useEffectEvent, useRef } from "react";
import { type PreviewWord, readWord } from "./preview_report";

interface Props {
  src: string;
  title: string;
  /** Changes to load the page again. */
  count: number;
  width: number | null;
  onWord(word: PreviewWord): void;
}

export function DevFrame({ src, title, count, width, onWord }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const receive = useEffectEvent((event: MessageEvent) => {
    if (event.source !== frame.current?.contentWindow) return;
    const word = readWord(event.data);
    if (word !== null) onWord(word);
  });
  useEffect(() => {
    window.addEventListener("message", receive);
    return () => window.removeEventListener("message", receive);
  }, []);
  return (
    <div className="dev-frame">
      <iframe
        key={count}
        ref={frame}
        title={title}
        src={src}
        sandbox="allow-scripts allow-same-origin allow-forms"
        referrerPolicy="no-referrer"
        style={width === null ? undefined : { maxWidth: width }}
      />
    </div>
  );
}
