/**
 * Finds words in a long list of which only a part is there. Ctrl-F opens it; Ctrl-F once more is the browser's own search, which sees
 * only what is shown.
 */

import { useEffect, useEffectEvent, useRef, useState } from "react";
import { findBar as texts } from "../texts/parts";
import { IconButton } from "./button";
import { useKeys, withControl } from "./keys";

interface Props {
  /** The numbers of the items that hold the words. */
  find(words: string): number[];
  /** Brings an item into view and marks the words in it. */
  onShow(index: number | null, words: string): void;
}

export function FindBar({ find, onShow }: Props) {
  const [open, setOpen] = useState(false);
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const input = useRef<HTMLInputElement>(null);
  const matches = open && words.trim() !== "" ? find(words.trim()) : [];
  const current = matches.length === 0 ? 0 : Math.min(at, matches.length - 1);
  const begin = () => {
    if (document.activeElement === input.current) return false; // a second time it is the browser's own
    setOpen(true);
    input.current?.select();
    return undefined;
  };
  useKeys(withControl("f", begin), { typing: true });
  useEffect(() => {
    if (open) input.current?.select();
  }, [open]);
  const show = useEffectEvent(onShow);
  const target = matches[current] ?? null;
  useEffect(() => show(target, open ? words.trim() : ""), [target, words, open, at]);
  if (!open) return null;
  const step = (by: number) => setAt(matches.length === 0 ? 0 : (current + by + matches.length) % matches.length);
  return (
    <div className="find-bar row" role="search">
      <input
        ref={input}
        className="field small"
        type="text"
        aria-label={texts.findInTheConversation}
        placeholder={texts.findInTheConversation}
        value={words}
        onChange={(event) => {
          setWords(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") setOpen(false);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className="faint numeric find-count" role="status">
        {words.trim() === "" ? "" : matches.length === 0 ? texts.nothingFound : texts.of(current + 1, matches.length)}
      </span>
      <IconButton small icon="left" label={texts.previousMatchShiftEnter} disabled={matches.length === 0} onClick={() => step(-1)} />
      <IconButton small icon="right" label={texts.nextMatchEnter} disabled={matches.length === 0} onClick={() => step(1)} />
      <IconButton small icon="close" label={texts.closeTheSearchEscape} onClick={() => setOpen(false)} />
    </div>
  );
}

/** Mark the words in an element, and scroll to the first of them. */
export function markWords(element: Element | null, words: string): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("found");
  if (element === null || words === "") return;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < 200; node = walker.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (let at = text.indexOf(words.toLowerCase()); at >= 0; at = text.indexOf(words.toLowerCase(), at + words.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + words.length, text.length));
      ranges.push(range);
    }
  }
  if (ranges.length === 0) return;
  CSS.highlights.set("found", new Highlight(...ranges));
  ranges[0]?.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
}
