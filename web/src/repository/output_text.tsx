/** What a command printed, with its end in view. */

import { useLayoutEffect, useRef } from "react";
import { plain } from "../parts/format";

export function OutputText({ text, label, empty }: { text: string; label: string; empty: string }) {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  if (text === "") return <p className="muted panel-empty">{empty}</p>;
  return (
    <pre ref={box} className="output-text" tabIndex={0} role="region" aria-label={label}>
      {plain(text)}
    </pre>
  );
}
