/** Text of a model, as markdown. What came before the last paragraph is not made anew while it streams. */

import { memo, useMemo } from "react";
import { copyText } from "./clipboard";
import { toHtml } from "./markdown";

export const Prose = memo(function Prose({ text, open = false }: { text: string; open?: boolean }) {
  const [settled, growing] = useMemo(() => (open ? split(text) : [text, ""]), [text, open]);
  return (
    <div className="prose" onClick={copyCode}>
      {settled !== "" && <Html text={settled} />}
      {growing !== "" && <Html text={growing} />}
    </div>
  );
});

const Html = memo(function Html({ text }: { text: string }) {
  return <div dangerouslySetInnerHTML={{ __html: toHtml(text) }} />;
});

/** Cut where a paragraph ends for good: at the last blank line that is in no code block and in no list. */
function split(text: string): [string, string] {
  let fence = false;
  let at = 0;
  let cut = 0;
  for (const line of text.split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) fence = !fence;
    at += line.length + 1;
    if (!fence && line.trim() === "" && at < text.length && !/^(\s|[-*+]|\d+[.)])/.test(text.slice(at))) cut = at;
  }
  return [text.slice(0, cut), text.slice(cut)];
}

function copyCode(event: React.MouseEvent<HTMLElement>): void {
  const target = event.target as HTMLElement;
  if (!target.classList.contains("code-copy")) return;
  const code = target.closest(".code")?.querySelector("code")?.textContent ?? "";
  void copyText(code.replace(/\n$/, "")).then(() => {
    target.textContent = "Copied";
    window.setTimeout(() => (target.textContent = "Copy"), 1500);
  });
}
