/** The models of a change that nobody chose one for: the one that built what is changed, as the server does it. */

import type { Base, StudioView, VersionView } from "../wire/api";
import { usualModelsOf } from "./usual_models";

interface Inherited {
  models: string[];
  /** How many variants the change has. */
  variants: number;
}

export function inheritedModels(versions: readonly VersionView[], base: Base, offer: StudioView | null): Inherited {
  const usual = offer?.defaults.variants_update ?? 1;
  const version = versions.find((candidate) => candidate.id === base.version);
  const model = version?.variants.find((variant) => variant.index === base.variant)?.model ?? "";
  if (version !== undefined && model !== "") return replaced({ models: [model], variants: Math.min(version.variants.length, usual) }, offer, usual);
  if (version?.base) return inheritedModels(versions, version.base, offer); // a person changed it
  return { models: usualModelsOf(offer, false), variants: usual };
}

/** The converter does not understand most words: a language model takes its place. */
function replaced(inherited: Inherited, offer: StudioView | null, usual: number): Inherited {
  const isConverter = (name: string | undefined) => offer?.models.find((model) => model.name === name)?.text === false;
  const talkers = usualModelsOf(offer, false);
  return isConverter(inherited.models[0]) && talkers.length > 0 && !isConverter(talkers[0]) ? { models: talkers, variants: usual } : inherited;
}
