/** What a change costs, before it is sent: as many tokens as the variant took that is changed, at the prices of the models. */

import { money } from "../parts/format";
import { price as texts } from "../texts/start";
import type { ModelView, VariantView } from "../wire/api";

interface Props {
  models: readonly ModelView[];
  /** The model of each variant. */
  names: readonly string[];
  usage: VariantView["usage"];
}

export function Price({ models, names, usage }: Props) {
  const [text, title] = priceOf(models, names, usage);
  return (
    <span className="faint numeric change-price" title={title} data-testid="change-price">
      {text}
    </span>
  );
}

const MILLION = 1_000_000;

/** The price in a few words, and what it is made from. */
export function priceOf(models: readonly ModelView[], names: readonly string[], usage: VariantView["usage"]): [string, string] {
  const builders = names.map((name) => models.find((model) => model.name === name));
  let total = 0;
  let perMillion = 0;
  for (const model of builders) {
    const input = model?.input_usd_per_million;
    const output = model?.output_usd_per_million;
    if (input == null || output == null) return [texts.priceUnknown, texts.thePriceOfThisModel];
    perMillion += input + output;
    total += ((usage.input ?? 0) * input + (usage.output ?? 0) * output) / MILLION;
  }
  if (perMillion === 0) return ["free", texts.noPrice];
  if (total > 0) return [texts.about(money(total)), texts.estimateHint];
  const first = builders[0];
  return [`${money(first?.input_usd_per_million ?? 0)} / ${money(first?.output_usd_per_million ?? 0)}`, texts.dollarsForAMillionTokens];
}
