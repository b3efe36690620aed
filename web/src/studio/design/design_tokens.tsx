/** The values of a design system, by kind, each to be corrected, removed or added. */

import { useState } from "react";
import { Button, IconButton } from "../../parts/button";
import { designTokens as texts } from "../../texts/design";
import { type DesignLine, designLines, KINDS, type TokenKind, withoutLine, withToken, withValue } from "./design_lines";

interface Props {
  text: string;
  disabled: boolean;
  onText(text: string): void;
}

export function DesignTokens({ text, disabled, onText }: Props) {
  const lines = designLines(text);
  return (
    <>
      {KINDS.map(({ kind, heading }) => {
        const entries = lines.filter((line) => line.kind === kind);
        if (entries.length === 0) return null;
        return (
          <section key={kind} className="stack" aria-label={heading}>
            <h3>{heading}</h3>
            <ul className="design-tokens">
              {entries.map((entry) => (
                <TokenRow
                  key={`${entry.line} ${entry.name}`}
                  entry={entry}
                  disabled={disabled}
                  onValue={(value) => onText(withValue(text, entry.line, value))}
                  onRemove={() => onText(withoutLine(text, entry.line))}
                />
              ))}
            </ul>
          </section>
        );
      })}
      <NewToken disabled={disabled} onAdd={(kind, name, value) => onText(withToken(text, kind, name, value))} />
    </>
  );
}

function TokenRow({ entry, disabled, onValue, onRemove }: { entry: DesignLine; disabled: boolean; onValue(value: string): void; onRemove(): void }) {
  const label = entry.mode === "" ? entry.name : `${entry.name} (${entry.mode})`;
  return (
    <li className="row">
      {entry.kind === "color" && <Swatch value={entry.value} />}
      <span className="truncate grow" title={label}>
        {entry.name}
        {entry.mode !== "" && <span className="faint"> {entry.mode}</span>}
      </span>
      <input className="field small mono" aria-label={label} value={entry.value} disabled={disabled} onChange={(event) => onValue(event.target.value)} />
      <IconButton small icon="trash" label={texts.remove(label)} disabled={disabled} onClick={onRemove} />
    </li>
  );
}

export function Swatch({ value }: { value: string }) {
  return <span className="swatch" aria-hidden="true" style={{ ["--swatch" as string]: CSS.supports("color", value) ? value : "transparent" }} />;
}

function NewToken({ disabled, onAdd }: { disabled: boolean; onAdd(kind: TokenKind, name: string, value: string): void }) {
  const [kind, setKind] = useState<TokenKind>("color");
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const example = KINDS.find((candidate) => candidate.kind === kind)?.example ?? "";
  const isReady = name.trim() !== "" && value.trim() !== "" && !disabled;
  const add = () => {
    onAdd(kind, name, value);
    setName("");
    setValue("");
  };
  return (
    <form
      className="row wrap design-new"
      aria-label={texts.addAValue}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) add();
      }}
    >
      <select className="select small" aria-label={texts.kind} value={kind} onChange={(event) => setKind(event.target.value as TokenKind)}>
        {KINDS.map((candidate) => (
          <option key={candidate.kind} value={candidate.kind}>
            {candidate.heading}
          </option>
        ))}
      </select>
      <input className="field small" aria-label={texts.name} placeholder={texts.name} value={name} onChange={(event) => setName(event.target.value)} />
      <input className="field small mono" aria-label={texts.value} placeholder={example} value={value} onChange={(event) => setValue(event.target.value)} />
      <Button small type="submit" icon="plus" disabled={!isReady}>
        {texts.add}
      </Button>
    </form>
  );
}
