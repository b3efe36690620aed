/** A unified diff, shown as one. */

import { memo } from "react";

const MOST = 400;

export const Diff = memo(function Diff({ text }: { text: string }) {
  const lines = text.replace(/\n$/, "").split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
  const shown = lines.slice(0, MOST);
  return (
    <div className="diff" tabIndex={0} role="region" aria-label="Difference">
      {shown.map((line, at) => (
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

function kindOf(line: string): string {
  if (line.startsWith("+")) return "add";
  if (line.startsWith("-")) return "del";
  return line.startsWith("@@") ? "hunk" : "";
}

export function countOf(diff: string): { added: number; removed: number } {
  const lines = diff.split("\n");
  return {
    added: lines.filter((line) => line.startsWith("+") && !line.startsWith("+++")).length,
    removed: lines.filter((line) => line.startsWith("-") && !line.startsWith("---")).length,
  };
}
