/** Text of a model, as markdown. A block that is complete is parsed once, however much follows it. */

import { memo, useLayoutEffect, useMemo, useRef } from "react";
import { prose as texts } from "../texts/parts";
import { blocksOf } from "./blocks";
import { copyText } from "./clipboard";
import { toHtml } from "./markdown";

export const Prose = memo(function Prose({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="prose" onClick={onClick}>
      {blocks.map((block, at) => (
        <Html key={at} text={block} />
      ))}
    </div>
  );
});

type Enrich = (element: Element) => void;

/** Makes code, math and diagrams richer; null until a text first has something of it. */
let enrich: Enrich | null = null;

const Html = memo(function Html({ text }: { text: string }) {
  const box = useRef<HTMLDivElement>(null);
  const html = useMemo(() => ({ __html: toHtml(text) }), [text]);
  useLayoutEffect(() => {
    const element = box.current;
    if (element?.querySelector(".math, .code-language") == null) return undefined;
    if (enrich !== null) {
      enrich(element);
      return undefined;
    }
    let current = true;
    import("./enrich").then(
      (module) => {
        enrich = module.enrich;
        if (current) enrich(element);
      },
      () => undefined, // the text stays as it was written
    );
    return () => {
      current = false;
    };
  }, [html]);
  return <div ref={box} dangerouslySetInnerHTML={html} />;
});

/** Go from a footnote's number to its text, and back. */
function followFootnote(target: HTMLElement, prose: HTMLElement): void {
  const notes = [...prose.querySelectorAll<HTMLElement>(".footnotes li")];
  const references = [...prose.querySelectorAll<HTMLElement>(".footnote-ref")];
  const number = target.matches(".footnote-ref") ? Number(target.textContent) : notes.findIndex((note) => note.contains(target)) + 1;
  const to = target.matches(".footnote-ref") ? notes[number - 1]?.querySelector<HTMLElement>(".footnote-back") : references.find((reference) => Number(reference.textContent) === number);
  to?.scrollIntoView({ block: "nearest" });
  to?.focus();
}

function onClick(event: React.MouseEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  if (target.matches(".footnote-ref, .footnote-back")) {
    followFootnote(target, event.currentTarget);
    return;
  }
  if (!target.classList.contains("code-copy")) return;
  const code = target.closest(".code")?.querySelector("code")?.textContent ?? "";
  void copyText(code.replace(/\n$/, "")).then(() => {
    target.textContent = texts.copied;
    window.setTimeout(() => (target.textContent = texts.copy), 1500);
  });
}
