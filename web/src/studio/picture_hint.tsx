/** What the converter is told about a picture: what it shows, and how many pixels it has for each CSS pixel. */

import { pictureHint as texts } from "../texts/start";
import type { ModelView, Prompt } from "../wire/api";

type Image = NonNullable<Prompt["images"]>[number];

/** An empty kind, and a scale of 0, are found out by the converter. */
export interface Hint {
  kind: NonNullable<Image["kind"]>;
  scale: number;
}

export const NO_HINT: Hint = { kind: "", scale: 0 };

const KINDS = [
  ["", texts.kindAutomatic],
  ["page", texts.screenshot],
  ["sketch", texts.sketch],
  ["photo", texts.photoOfAScreen],
] as const;

const SCALES = [
  [0, texts.scaleAutomatic],
  [1, texts.scale1],
  [2, texts.scale2Retina],
  [3, texts.scale3],
] as const;

interface Props {
  hint: Hint;
  onChange(hint: Hint): void;
}

/** The choices stand beside the models while a picture is attached. */
export function PictureHint({ hint, onChange }: Props) {
  return (
    <>
      <select className="select" aria-label={texts.kindOfPicture} value={hint.kind} onChange={(event) => onChange({ ...hint, kind: kindOf(event.target.value) })}>
        {KINDS.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <select className="select" aria-label={texts.scaleOfThePicture} value={hint.scale} onChange={(event) => onChange({ ...hint, scale: Number(event.target.value) })}>
        {SCALES.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </>
  );
}

/** Whether the converter reads the pictures: it builds, or drafts for the models that do. */
export function usesConverter(builders: readonly ModelView[], drafts: boolean): boolean {
  return drafts || builders.some((model) => model.text === false);
}

/** The prompt with the hint on each of its pictures. */
export function withHint(prompt: Prompt, { kind, scale }: Hint): Prompt {
  if (prompt.images === undefined || (kind === "" && scale === 0)) return prompt;
  const named = { ...(kind === "" ? {} : { kind }), ...(scale === 0 ? {} : { scale }) };
  return { ...prompt, images: prompt.images.map((image) => ({ ...image, ...named })) };
}

function kindOf(value: string): Hint["kind"] {
  return KINDS.find(([kind]) => kind === value)?.[0] ?? "";
}
