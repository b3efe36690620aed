/** The model of the conversation about a repository: chosen before it begins, and changed while it goes on. */

import { useKeptText } from "../parts/kept";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { modelSelect as texts } from "../texts/repository";
import { models, sessions } from "../wire/api";

type Offer = Awaited<ReturnType<typeof models>>;

/** The model that a person chose for assistants, here and on the start page. */
export const MODEL_KEY = "assist-model";

/** The chosen model if it can be used, else the usual one; empty if there is none. */
export function chosenModel(offer: Offer, chosen: string): string {
  const usable = offer.models.filter((model) => model.available !== false).map((model) => model.name);
  return usable.includes(chosen) ? chosen : offer.default || (usable[0] ?? "");
}

export function ModelSelect({ session }: { session: string }) {
  const offer = useFetched("models", models);
  const [chosen, setChosen] = useKeptText(MODEL_KEY);
  const info = useFetched(session === "" ? null : `session ${session}`, () => sessions.one(session));
  if (offer.value === null) return null;
  const current = info.value?.settings.model || chosenModel(offer.value, chosen);
  const change = (model: string) => {
    setChosen(model);
    if (session !== "") sessions.change(session, { model }).then(info.set).catch(showFailure);
  };
  return (
    <select className="select" aria-label={texts.model} value={current} onChange={(event) => change(event.target.value)}>
      {offer.value.models
        .filter((model) => model.available !== false || model.name === current)
        .map((model) => (
          <option key={model.name} value={model.name}>
            {model.label || model.name}
          </option>
        ))}
    </select>
  );
}
