import { IconButton } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { stopVariant as texts } from "../texts/project";
import { type Base, isRunning, projects, type VariantView } from "../wire/api";

interface Props {
  project: string;
  base: Base;
  variant: VariantView;
  away: boolean;
  onActed(): void;
}

/** Stops the variant that is shown, on screens where the cards of the variants are in another tab. */
export function StopVariant({ project, base, variant, away, onActed }: Props) {
  if (!isRunning(variant)) return null;
  const stop = () => {
    projects.act(project, base, "cancel").then(onActed).catch(showFailure);
  };
  return <IconButton small icon="stop" look="danger" label={texts.stopVariant(variant.index + 1)} className="only-small" disabled={away} onClick={stop} />;
}
