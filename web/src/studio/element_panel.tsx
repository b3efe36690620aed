/** Changes a selected element by hand: its text, colours, size, space and picture. No model is asked. */

import { type ReactNode, useEffect, useEffectEvent, useId, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { faultOf, type Property } from "./css_value";
import type { Element, LiveEdit } from "./frame";

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
  /** Shows the changes in the preview; null shows the page as it is. */
  onPreview(edit: LiveEdit | null): void;
  /** Whether it was applied. */
  onApply(edit: ElementEdit): Promise<boolean>;
  onClose(): void;
  /** What else can be done with the element. */
  children?: ReactNode;
}

/** What was written and is not applied yet; what is missing is as in the page. */
interface Draft {
  text?: string;
  source?: string;
  style: Partial<Record<Property, string>>;
}

const UNCHANGED: Draft = { style: {} };

export function ElementPanel({ path, element, onPreview, onApply, onClose, children }: Props) {
  const [draft, setDraft] = useState<Draft>(UNCHANGED);
  const [busy, setBusy] = useState(false);
  const current: Record<Property, string> = { color: element.color, "background-color": element.background, "font-size": element.size, padding: element.padding };
  const written = (Object.entries(draft.style) as [Property, string][]).filter(([property, value]) => value.trim() !== current[property]);
  const faults = new Map(written.map(([property, value]) => [property, faultOf(property, value)] as const).filter(([, fault]) => fault !== ""));
  const style = Object.fromEntries(written.filter(([property]) => !faults.has(property)).map(([property, value]) => [property, value.trim()]));
  const text = element.text !== null && draft.text !== undefined && draft.text !== element.text ? draft.text : undefined;
  const source = element.source !== null && draft.source !== undefined && draft.source !== element.source ? draft.source : undefined;
  const nothing = text === undefined && source === undefined && Object.keys(style).length === 0;
  const preview = useEffectEvent(() => onPreview(nothing ? null : { path, style, ...(text === undefined ? {} : { text }), ...(source === undefined ? {} : { source }) }));
  useEffect(() => preview(), [draft, element]);
  const endPreview = useEffectEvent(() => onPreview(null));
  useEffect(() => () => endPreview(), []);
  const apply = () => {
    if (nothing || busy || faults.size > 0) return;
    setBusy(true);
    const edit: ElementEdit = { path, style };
    if (text !== undefined) Object.assign(edit, { text, before: element.text });
    if (source !== undefined) edit.attributes = { src: source };
    void onApply(edit)
      .then((isApplied) => isApplied && setDraft(UNCHANGED))
      .finally(() => setBusy(false));
  };
  const field = (property: Property) => ({
    value: draft.style[property] ?? current[property],
    fault: faults.get(property) ?? "",
    onChange: (value: string) => setDraft((now) => ({ ...now, style: { ...now.style, [property]: value } })),
  });
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
          <textarea
            className="field"
            aria-label="Text"
            rows={2}
            value={draft.text ?? element.text}
            onChange={(event) => setDraft((now) => ({ ...now, text: event.target.value }))}
          />
        </label>
      )}
      {element.source !== null && (
        <Field label="Picture" value={draft.source ?? element.source} fault="" onChange={(value) => setDraft((now) => ({ ...now, source: value }))} />
      )}
      <div className="element-grid">
        <Colour label="Colour" {...field("color")} />
        <Colour label="Background" {...field("background-color")} />
        <Field label="Font size" {...field("font-size")} />
        <Field label="Padding" {...field("padding")} />
      </div>
      <div className="row element-foot">
        <Button disabled={draft === UNCHANGED || busy} onClick={() => setDraft(UNCHANGED)}>
          Reset
        </Button>
        <Button look="primary" type="submit" className="grow" disabled={nothing || busy || faults.size > 0}>
          Apply as new version
        </Button>
      </div>
      {children}
    </form>
  );
}

interface FieldProps {
  label: string;
  value: string;
  /** What is wrong with the value; empty if nothing is. */
  fault: string;
  onChange(value: string): void;
}

function Field({ label, value, fault, onChange, children }: FieldProps & { children?: ReactNode }) {
  const name = useId();
  return (
    <div className="stack">
      <span aria-hidden="true">{label}</span>
      <span className="row">
        {children}
        <input
          className="field"
          aria-label={label}
          aria-invalid={fault !== ""}
          aria-describedby={fault === "" ? undefined : name}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      </span>
      {fault !== "" && (
        <span className="field-fault" id={name} role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

function Colour(props: FieldProps) {
  return (
    <Field {...props}>
      <input type="color" aria-label={`${props.label}: pick`} value={hexOf(props.value)} onChange={(event) => props.onChange(event.target.value)} />
    </Field>
  );
}

/** A colour as a picker wants it. */
export function hexOf(colour: string): string {
  const parts = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(colour);
  if (parts !== null) return `#${parts.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour : "#000000";
}
