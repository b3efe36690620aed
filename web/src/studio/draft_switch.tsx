/** Whether the converter drafts the page before the chosen models polish it. */

import { draftSwitch as texts } from "../texts/start";
import type { ModelView } from "../wire/api";

interface Props {
  checked: boolean;
  onChange(checked: boolean): void;
}

/** The switch stands beside the models. */
export function DraftSwitch({ checked, onChange }: Props) {
  return (
    <label className="row" title={texts.theConverterBuildsThePage}>
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <span className="faint">{texts.freeDraftFirst}</span>
    </label>
  );
}

/** Whether a draft can be made: the converter is there and writes the stack, and a language model would build. */
export function canDraft(offered: readonly ModelView[], builders: readonly ModelView[], stack: string): boolean {
  const converter = offered.find((model) => model.text === false && model.available !== false);
  if (converter === undefined || (converter.stacks && !converter.stacks.includes(stack))) return false;
  return builders.some((model) => model.text !== false);
}
