/** Text that a person decides on: nothing hidden, nothing moved, and what is long can be seen whole. */

import { useState } from "react";
import { visible as texts } from "../texts/parts";
import { Button } from "./button";
import { describeHidden, excerptOf, partsOf, wholeRows } from "./visible_text";

/** An escaped row. Its escapes stand in brackets, and are marked. */
export function Escaped({ row }: { row: string }) {
  return (
    <>
      {partsOf(row).map((part, at) =>
        part.isEscape ? (
          <span key={at} className="escape">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </>
  );
}

/** The rows of a text. Each line after the first is marked, so that it is not taken for anything else. */
export function VisibleText({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const excerpt = excerptOf(text);
  const rows = isWhole ? wholeRows(text) : excerpt.rows;
  return (
    <>
      <div className={isWhole ? "visible whole" : "visible"} role="region" aria-label={label} tabIndex={0}>
        {rows.map((row, at) => (
          <div key={at} className="visible-row">
            <span className="faint">{at === 0 ? "" : "│"}</span>
            <span>
              <Escaped row={row} />
            </span>
          </div>
        ))}
      </div>
      {excerpt.leftOut > 0 && <ShowAll count={excerpt.leftOut} isWhole={isWhole} onChange={setWhole} />}
    </>
  );
}

interface ShowAllProps {
  /** The characters that are left out. */
  count: number;
  isWhole: boolean;
  onChange: (isWhole: boolean) => void;
}

export function ShowAll({ count, isWhole, onChange }: ShowAllProps) {
  const characters = texts.character(count.toLocaleString("en-US"), count);
  return (
    <div className="row">
      <Button onClick={() => onChange(!isWhole)}>{isWhole ? texts.showLess : texts.showAllLeftOut(characters)}</Button>
    </div>
  );
}

/** Notes about characters that deceive a reader. */
export function HiddenNotes({ text, name, isCommand = false }: { text: string; name: string; isCommand?: boolean }) {
  return (
    <>
      {describeHidden(text, isCommand).map((note) => (
        <p key={note} className="note warning">
          {name} {note}
        </p>
      ))}
    </>
  );
}
