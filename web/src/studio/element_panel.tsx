/** Changes a selected element by hand: its text, colours, size, space and picture. No model is asked. */

import { type ReactNode, useEffect, useEffectEvent, useId, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { elementPanel as texts } from "../texts/project";
import { faultOf, type Property } from "./css_value";
import type { LiveEdit } from "./frame";
import type { Device } from "./stage";
import { changedSides } from "./visual/box_sides";
import { scopesOf } from "./visual/edit_scope";
import { type Draft, UNCHANGED } from "./visual/element_draft";
import type { Selection, Token } from "./visual/picked_element";
import { TokenSelect } from "./visual/token_select";

/** A change of all selected elements; text and picture are those of the one that the panel shows. */
export interface ElementEdit {
  text?: string;
  before?: string;
  style: Record<string, string>;
  attributes?: { src: string };
  /** The change holds in windows narrower than this; 0 is every width. */
  below: number;
}

interface Props {
  selection: Selection;
  draft: Draft;
  onDraft(change: (now: Draft) => Draft): void;
  /** The width of the preview. */
  device: Device;
  /** Shows the changes in the preview; null shows the page as it is. */
  onPreview(edit: LiveEdit | null): void;
  /** Whether it was applied. */
  onApply(edit: ElementEdit): Promise<boolean>;
  onClose(): void;
  /** What else can be done with the element. */
  children?: ReactNode;
}

export function ElementPanel({ selection, draft, onDraft, device, onPreview, onApply, onClose, children }: Props) {
  const { primary, others, tokens } = selection;
  const { element, place } = primary;
  const [busy, setBusy] = useState(false);
  const scopes = scopesOf(device);
  const [chosenScope, setChosenScope] = useState<number | null>(null);
  const scope = scopes.find((candidate) => candidate.below === chosenScope) ?? scopes[0];
  const current: Record<Property, string> = {
    color: element.color,
    "background-color": element.background,
    "font-size": element.size,
    "font-family": element.family,
    "font-weight": element.weight,
    padding: element.padding,
    margin: element.margin,
  };
  const written = (Object.entries(draft.style) as [Property, string][]).filter(([property, value]) => value.trim() !== current[property]);
  const faults = new Map(written.map(([property, value]) => [property, isToken(tokens, value) ? "" : faultOf(property, value)] as const).filter(([, fault]) => fault !== ""));
  const style = Object.fromEntries(written.filter(([property]) => !faults.has(property)).flatMap(([property, value]) => Object.entries(declarationsOf(property, current[property], value))));
  const isSingle = others.length === 0;
  const text = isSingle && element.text !== null && draft.text !== undefined && draft.text !== element.text ? draft.text : undefined;
  const source = isSingle && element.source !== null && draft.source !== undefined && draft.source !== element.source ? draft.source : undefined;
  const nothing = text === undefined && source === undefined && Object.keys(style).length === 0;
  const preview = useEffectEvent(() => {
    const live = Object.fromEntries(Object.entries(style).map(([name, value]) => [name, tokens.find((token) => token.code === value)?.value ?? value]));
    const edit: LiveEdit = { path: place.path, others: others.map((picked) => picked.place.path), style: live };
    onPreview(nothing ? null : { ...edit, ...(text === undefined ? {} : { text }), ...(source === undefined ? {} : { source }) });
  });
  useEffect(() => preview(), [draft, selection]);
  const endPreview = useEffectEvent(() => onPreview(null));
  useEffect(() => () => endPreview(), []);
  const apply = () => {
    if (nothing || busy || faults.size > 0) return;
    setBusy(true);
    const edit: ElementEdit = { style, below: scope?.below ?? 0 };
    if (text !== undefined) Object.assign(edit, { text, before: element.text });
    if (source !== undefined) edit.attributes = { src: source };
    void onApply(edit)
      .then((isApplied) => isApplied && onDraft(() => UNCHANGED))
      .finally(() => setBusy(false));
  };
  const field = (property: Property) => ({
    value: draft.style[property] ?? current[property],
    fault: faults.get(property) ?? "",
    tokens,
    onChange: (value: string) => onDraft((now) => ({ ...now, style: { ...now.style, [property]: value } })),
  });
  return (
    <form
      className="element-panel"
      aria-label={texts.changeTheElement}
      onKeyDown={(event) => event.key === "Escape" && onClose()}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div className="row">
        <strong className="grow">{isSingle ? texts.changeItByHand : texts.changeElements(others.length + 1)}</strong>
        <IconButton small icon="close" label={texts.closeThisPanel} onClick={onClose} />
      </div>
      {primary.copies > 1 && <p className="element-note">{texts.onePlaceInTheSource(primary.copies)}</p>}
      {isSingle && element.text !== null && (
        <label className="stack">
          <span>{texts.text}</span>
          <textarea
            className="field"
            aria-label={texts.text}
            rows={2}
            value={draft.text ?? element.text}
            onChange={(event) => onDraft((now) => ({ ...now, text: event.target.value }))}
          />
        </label>
      )}
      {isSingle && element.source !== null && (
        <Field label={texts.picture} value={draft.source ?? element.source} fault="" onChange={(value) => onDraft((now) => ({ ...now, source: value }))} />
      )}
      <div className="element-grid">
        <Colour label={texts.colour} {...field("color")} />
        <Colour label={texts.background} {...field("background-color")} />
        <Field label={texts.font} token="font" {...field("font-family")} />
        <Field label={texts.fontSize} {...field("font-size")} />
        <Field label={texts.weight} {...field("font-weight")} />
        <Field label={texts.padding} {...field("padding")} />
        <Field label={texts.margin} {...field("margin")} />
        {scopes.length > 1 && (
          <label className="stack">
            <span>{texts.lookAppliesTo}</span>
            <select className="select" aria-label={texts.lookAppliesTo} value={scope?.below ?? 0} onChange={(event) => setChosenScope(Number(event.target.value))}>
              {scopes.map((candidate) => (
                <option key={candidate.below} value={candidate.below}>
                  {candidate.label}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <div className="row element-foot">
        <Button disabled={draft === UNCHANGED || busy} onClick={() => onDraft(() => UNCHANGED)}>
          {texts.reset}
        </Button>
        <Button look="primary" type="submit" className="grow" disabled={nothing || busy || faults.size > 0}>
          {texts.applyAsNewVersion}
        </Button>
      </div>
      {children}
    </form>
  );
}

/** Whether a value is a token that only the project's own tools know, such as Tailwind. */
function isToken(tokens: readonly Token[], value: string): boolean {
  return tokens.some((token) => token.code === value.trim());
}

/** What is declared for a value; of a space only the sides that change. */
function declarationsOf(property: Property, before: string, value: string): Record<string, string> {
  const after = value.trim();
  if (after !== "" && (property === "padding" || property === "margin")) return changedSides(property, before, after);
  return { [property]: after };
}

interface FieldProps {
  label: string;
  value: string;
  /** What is wrong with the value; empty if nothing is. */
  fault: string;
  /** The project's own colours and fonts. */
  tokens?: readonly Token[];
  /** Which of them fit. */
  token?: Token["kind"];
  onChange(value: string): void;
}

function Field({ label, value, fault, tokens = [], token, onChange, children }: FieldProps & { children?: ReactNode }) {
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
      {token !== undefined && <TokenSelect label={label} kind={token} tokens={tokens} value={value} onChange={onChange} />}
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
    <Field token="color" {...props}>
      <input type="color" aria-label={texts.pick(props.label)} value={hexOf(props.tokens?.find((token) => token.code === props.value)?.value ?? props.value)} onChange={(event) => props.onChange(event.target.value)} />
    </Field>
  );
}

/** A colour as a picker wants it. */
export function hexOf(colour: string): string {
  const parts = /^rgba?\((\d+),\s*(\d+),\s*(\d+)/.exec(colour);
  if (parts !== null) return `#${parts.slice(1, 4).map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour : "#000000";
}
