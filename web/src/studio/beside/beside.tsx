/** The variants of a version side by side. They scroll together, and a part of one can be copied to another. */

import "../../style/beside.css";
import { type UIEvent, useCallback, useState } from "react";
import { Button } from "../../parts/button";
import { useKeptValue } from "../../parts/kept";
import { Segmented } from "../../parts/segmented";
import { showFailure } from "../../parts/toasts";
import { beside as texts } from "../../texts/beside";
import { isRunning, type ModelView, projects, type Prompt, type VariantView, type VersionView } from "../../wire/api";
import { labelOf } from "../model_choice";
import { BesideFrame } from "./beside_frame";
import { type Part, partRequest, pathAround, type PartPlace } from "./part";
import { PartBar } from "./part_bar";

interface Props {
  project: string;
  version: string;
  variants: readonly VariantView[];
  models: readonly ModelView[];
  away: boolean;
  onMade(version: VersionView): void;
  /** Sends a change of a variant to a model; null where there is none. */
  onAsk: ((variant: number, prompt: Prompt) => void) | null;
}

export function Beside({ project, version, variants, models, away, onMade, onAsk }: Props) {
  const [size, setSize] = useKeptValue<"fit" | "full">("beside-size", "fit");
  const [scroll, setScroll] = useState({ top: 0, by: -1 });
  const [isPicking, setIsPicking] = useState(false);
  const [source, setSource] = useState<Part | null>(null);
  const [target, setTarget] = useState<Part | null>(null);
  const [place, setPlace] = useState<PartPlace>("replace");
  const [busy, setBusy] = useState(false);
  const finished = variants.filter((variant) => variant.entry !== null && !isRunning(variant));
  const cancel = useCallback(() => {
    setIsPicking(false);
    setSource(null);
    setTarget(null);
  }, []);
  const pick = (part: Part) => {
    if (source === null || source.variant === part.variant) setSource(part);
    else setTarget(part);
  };
  const pickedIn = (variant: number) => [source, target].find((part) => part?.variant === variant)?.path ?? "";
  const put = () => {
    if (source === null || target === null) return;
    setBusy(true);
    projects
      .addPart(project, { version, variant: target.variant }, { path: target.path, place, source: { version, variant: source.variant }, source_path: source.path })
      .then(onMade)
      .catch(showFailure)
      .finally(() => setBusy(false));
  };
  const ask = () => {
    if (source !== null && target !== null) onAsk?.(target.variant, { text: partRequest(source, place), selected: { html: target.html, path: target.path, index: 0 } });
  };
  if (finished.length < 2) return <div className="empty grow">{texts.twoFinishedVariantsAreNeeded}</div>;
  return (
    <div className="beside" onKeyDown={(event) => event.key === "Escape" && cancel()}>
      <div className="panel-bar row wrap">
        <Segmented
          label={texts.size}
          value={size}
          onChange={setSize}
          choices={[
            { value: "fit", label: texts.fit },
            { value: "full", label: "100 %" },
          ]}
        />
        <span className="grow" />
        <Button small icon="pointer" aria-pressed={isPicking} disabled={away} onClick={() => (isPicking ? cancel() : setIsPicking(true))}>
          {texts.copyAPart}
        </Button>
      </div>
      {isPicking && <PartBar source={source} target={target} place={place} busy={busy || away} onParent={(part) => pick({ ...part, path: pathAround(part) ?? part.path })} onPlace={setPlace} onPut={put} onAsk={onAsk === null ? null : ask} onCancel={cancel} />}
      <div className="beside-columns" tabIndex={0} role="region" aria-label={texts.variantsSideBySide} onScrollCapture={scrollAcross}>
        {finished.map((variant) => (
          <section key={variant.session} className="beside-column" aria-label={texts.variant(variant.index + 1)}>
            <h2 className="truncate">
              {variant.index + 1} {variant.model === "" ? "" : labelOf(models, variant.model)}
            </h2>
            <BesideFrame variant={variant} isPicking={isPicking} picked={pickedIn(variant.index)} isFull={size === "full"} scroll={scroll} onScroll={(top) => setScroll({ top, by: variant.index })} onPick={pick} />
          </section>
        ))}
      </div>
    </div>
  );
}

/** Scrolls the other pages across with the one that is scrolled. */
function scrollAcross(event: UIEvent<HTMLElement>) {
  const room = event.target as HTMLElement;
  if (room === event.currentTarget) return;
  for (const other of event.currentTarget.querySelectorAll(".beside-room")) {
    if (other.scrollLeft !== room.scrollLeft) other.scrollLeft = room.scrollLeft;
  }
}
