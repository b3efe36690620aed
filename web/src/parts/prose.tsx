/** Text of a model, as markdown. A block that is complete is parsed once, however much follows it. */

import { memo, useMemo } from "react";
import { blocksOf } from "./blocks";
import { copyText } from "./clipboard";
import { toHtml } from "./markdown";

export const Prose = memo(function Prose({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="prose" onClick={copyCode}>
      {blocks.map((block, at) => (
        <Html key={at} text={block} />
      ))}
    </div>
  );
});

const Html = memo(function Html({ text }: { text: string }) {
  const html = useMemo(() => ({ __html: toHtml(text) }), [text]);
  return <div dangerouslySetInnerHTML={html} />;
});

function copyCode(event: React.MouseEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  if (!target.classList.contains("code-copy")) return;
  const code = target.closest(".code")?.querySelector("code")?.textContent ?? "";
  void copyText(code.replace(/\n$/, "")).then(() => {
    target.textContent = "Copied";
    window.setTimeout(() => (target.textContent = "Copy"), 1500);
  });
}
