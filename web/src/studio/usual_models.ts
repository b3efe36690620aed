/** The models that build where nobody chose any. */

import type { ModelView, StudioView } from "../wire/api";

export function modelsNamed(offer: StudioView | null, names: readonly string[]): ModelView[] {
  return offer?.models.filter((model) => names.includes(model.name)) ?? [];
}

/** The server's own choice: for pictures the converter if it is listed, for words the language models. */
export function usualModelsOf(offer: StudioView | null, pictures: boolean): string[] {
  const names = offer?.defaults.models ?? [];
  const converter = modelsNamed(offer, names).filter((model) => model.text === false).map((model) => model.name);
  const talkers = names.filter((name) => !converter.includes(name));
  if (pictures) return converter.length > 0 ? converter : talkers;
  return talkers.length > 0 ? talkers : converter;
}
