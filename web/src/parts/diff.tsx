/** A unified diff, shown as one. */

import { memo, useState } from "react";
import { diff as texts } from "../texts/parts";
import { Escaped, ShowAll } from "./visible";
import { CHARACTERS, escapeHidden, excerptOf } from "./visible_text";

const MOST = 400;

interface Props {
  text: string;
  label?: string;
  /** Shows the lines that name the file too: nothing else does. */
  heads?: boolean;
}

export const Diff = memo(function Diff({ text, label = texts.difference, heads = false }: Props) {
  const [isWhole, setWhole] = useState(false);
  const lines = heads ? text.replace(/\n$/, "").split("\n") : linesOf(text);
  const cut = isWhole || lines.length <= MOST ? 0 : lines.length - MOST;
  const head = Math.floor((MOST * 2) / 3);
  const rows = lines.map((line) => (isWhole ? { rows: [escapeHidden(line)], leftOut: 0 } : excerptOf(line, CHARACTERS)));
  const left = lines.slice(head, head + cut).join("\n").length + rows.reduce((sum, row) => sum + row.leftOut, 0);
  return (
    <>
      <div className="diff" tabIndex={0} role="region" aria-label={label}>
        {lines.map((line, at) => {
          if (cut > 0 && at === head) {
            return <Line key={at} kind="hunk" sign="" row={texts.linesLeftOut(cut.toLocaleString("en-US"))} />;
          }
          if (at > head && at < head + cut) return null;
          const row = rows[at]?.rows.join("") ?? "";
          const isMarked = /^[+ -]/.test(line);
          return <Line key={at} kind={kindOf(line)} sign={/^[+-]/.test(line) ? line.charAt(0) : ""} row={isMarked ? row.slice(1) : row} />;
        })}
      </div>
      {(left > 0 || isWhole) && <ShowAll count={left} isWhole={isWhole} onChange={setWhole} />}
    </>
  );
});

function Line({ kind, sign, row }: { kind: string; sign: string; row: string }) {
  return (
    <div className={`diff-line ${kind}`}>
      <span />
      <span className="sign">{sign}</span>
      <span className="visible-line">{row === "" ? " " : <Escaped row={row} />}</span>
    </div>
  );
}

/** All but the two lines at the start that name the file: any other `--- …` is the removed line `-- …`. */
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
