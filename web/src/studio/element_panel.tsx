/** Changes a selected element by hand: its text, colours, size, space and picture. No model is asked. */

import { useState } from "react";
import { Button, IconButton } from "../parts/button";
import type { Element } from "./frame";

export interface ElementEdit {
  path: string;
  text?: string;
  before?: string;
  style?: Record<string, string>;
  attributes?: Record<string, string>;
}

interface Props {
  path: string;
  element: Element;
  onApply(edit: ElementEdit): Promise<void>;
  onClose(): void;
}

export function ElementPanel({ path, element, onApply, onClose }: Props) {
  const [text, setText] = useState(element.text ?? "");
  const [color, setColor] = useState(element.color);
  const [background, setBackground] = useState(element.background);
  const [size, setSize] = useState(element.size);
  const [padding, setPadding] = useState(element.padding);
  const [source, setSource] = useState(element.source ?? "");
  const [busy, setBusy] = useState(false);
  const style = Object.fromEntries(
    (
      [
        ["color", color, element.color],
        ["background-color", background, element.background],
        ["font-size", size, element.size],
        ["padding", padding, element.padding],
      ] as const
    )
      .filter(([, now, before]) => now.trim() !== before)
      .map(([name, now]) => [name, now.trim()]),
  );
  const changed = element.text !== null && text !== element.text;
  const pictured = element.source !== null && source !== element.source;
  const nothing = !changed && !pictured && Object.keys(style).length === 0;
  const apply = () => {
    if (nothing || busy) return;
    setBusy(true);
    const edit: ElementEdit = { path, style };
    if (changed) Object.assign(edit, { text, before: element.text });
    if (pictured) edit.attributes = { src: source };
    void onApply(edit).finally(() => setBusy(false));
  };
  return (
    <form
      className="element-panel"
      aria-label="Change the element"
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div className="row">
        <strong className="grow">Change it by hand</strong>
        <IconButton small icon="close" label="Close this panel" onClick={onClose} />
      </div>
      {element.text !== null && (
        <label className="stack">
          <span>Text</span>
          <textarea className="field" aria-label="Text" rows={2} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
      )}
      {element.source !== null && <Field label="Picture" value={source} onChange={setSource} />}
      <div className="element-grid">
        <Colour label="Colour" value={color} onChange={setColor} />
        <Colour label="Background" value={background} onChange={setBackground} />
        <Field label="Font size" value={size} onChange={setSize} />
        <Field label="Padding" value={padding} onChange={setPadding} />
      </div>
      <Button look="primary" type="submit" disabled={nothing || busy}>
        Apply as new version
      </Button>
    </form>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
}

function Field({ label, value, onChange }: FieldProps) {
  return (
    <label className="stack">
      <span>{label}</span>
      <input className="field" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}

function Colour({ label, value, onChange }: FieldProps) {
  return (
    <div className="stack">
      <span aria-hidden="true">{label}</span>
      <span className="row">
        <input type="color" aria-label={`${label}: pick`} value={hexOf(value)} onChange={(event) => onChange(event.target.value)} />
        <input className="field" aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
      </span>
    </div>
  );
}

/** A colour as a picker wants it. */
export function hexOf(colour: string): string {
  const parts = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(colour);
  if (parts !== null) return `#${parts.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour : "#000000";
}
