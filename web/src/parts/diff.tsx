/** A unified diff, shown as one. */

import { memo } from "react";

const MOST = 400;

export const Diff = memo(function Diff({ text, label = "Difference" }: { text: string; label?: string }) {
  const lines = linesOf(text);
  const visible = lines.slice(0, MOST);
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={label}>
      {visible.map((line, at) => (
        <div key={at} className={`diff-line ${kindOf(line)}`}>
          <span />
          <span className="sign">{/^[+-]/.test(line) ? line[0] : ""}</span>
          <span>{line.startsWith("@@") ? line : line.slice(1) || " "}</span>
        </div>
      ))}
      {lines.length > MOST && <div className="diff-line hunk"><span /><span /><span>{lines.length - MOST} more lines</span></div>}
    </div>
  );
});

/** All but the two lines that name the file. */
function linesOf(diff: string): string[] {
  const lines = diff.replace(/\n$/, "").split("\n");
  return /^--- /.test(lines[0] ?? "") && /^\+\+\+ /.test(lines[1] ?? "") ? lines.slice(2) : lines;
}

function kindOf(line: string): string {
  if (line.startsWith("+")) return "add";
  if (line.startsWith("-")) return "del";
  return line.startsWith("@@") ? "hunk" : "";
}

export function countOf(diff: string): { added: number; removed: number } {
  const lines = linesOf(diff);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
