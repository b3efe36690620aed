/** The target and what was made of it, one over the other. */

import "../style/compare.css";
import { useState } from "react";
import { wholePercent } from "../parts/format";
import { Icon } from "../parts/icon";
import { Segmented } from "../parts/segmented";
import { useFetched } from "../shell/fetched";
import { compare as texts } from "../texts/project";
import { type Base, projects, type ProjectView, type VariantView } from "../wire/api";

type Way = "slider" | "heat" | "beside";

/** What is measured, in words that say what it is about. */
const MEASURES = [
  ["overall", texts.overall],
  ["block", texts.parts],
  ["text", texts.text],
  ["position", texts.position],
  ["colour", texts.colour],
  ["style", texts.style],
  ["shapes", texts.shapes],
  ["ssim", texts.look],
] as const;

export function Compare({ project, base, variant }: { project: ProjectView; base: Base; variant: VariantView }) {
  const [way, setWay] = useState<Way>("slider");
  const [split, setSplit] = useState(50);
  const [rendered, setRendered] = useState<{ src: string; ok: boolean } | null>(null);
  const target = project.targets?.[0];
  const done = variant.status === "completed";
  const scored = useFetched(done && target ? `score of ${project.id} ${base.version}.${base.variant}` : null, () => projects.score(project.id, base));
  if (target === undefined) return <div className="empty grow">{texts.noPicture}</div>;
  if (!done) return <div className="empty grow">{texts.theComparisonIsMadeOnce}</div>;
  const goal = projects.target(project.id, target.blob);
  const result = projects.screenshot(project.id, base, Math.max(240, Math.min(2560, Math.round(target.width / (target.ratio ?? 1)))));
  const seen = rendered?.src === result ? rendered : null;
  const picture = { src: result, alt: texts.result, onLoad: () => setRendered({ src: result, ok: true }), onError: () => setRendered({ src: result, ok: false }) };
  const resultWords = seen === null ? texts.resultBeingRendered : seen.ok ? texts.result : texts.notRendered;
  const heat = scored.value?.heatmap ?? null;
  const score = scored.value?.score ?? variant.score;
  return (
    <div className="compare">
      <div className="panel-bar row wrap">
        <Segmented
          label={texts.howToCompare}
          value={way}
          onChange={setWay}
          choices={[
            { value: "slider", label: texts.slider, icon: "compare" },
            { value: "heat", label: texts.differences, icon: "layers" },
            { value: "beside", label: texts.sideBySide, icon: "split" },
          ]}
        />
        <span className="grow" />
        {score && (
          <dl className="scores numeric">
            {MEASURES.map(([name, words]) => [name, words, score[name]] as const).map(([name, words, value]) => (
              <div key={name}>
                <dt>{words}</dt>
                <dd>{typeof value === "number" ? wholePercent(value) : "–"}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {scored.error !== null && (
        <p className="note warning compare-fault" role="status">
          <Icon name="alert" size={14} />
          <span>{scored.error.message}</span>
        </p>
      )}
      <div className="compare-body" tabIndex={0} role="region" aria-label={texts.comparison}>
        {way === "slider" && (
          <div className="compare-sides faint">
            <span>{texts.target}</span>
            <span role="status">{resultWords}</span>
          </div>
        )}
        {way === "beside" ? (
          <div className="compare-beside">
            <figure>
              <img src={goal} alt={texts.target} />
              <figcaption>{texts.target}</figcaption>
            </figure>
            <figure>
              <img {...picture} />
              <figcaption>
                <span role="status">{resultWords}</span>
              </figcaption>
            </figure>
          </div>
        ) : (
          <div className="compare-stack">
            <img src={goal} alt={texts.target} />
            {way === "slider" && seen?.ok !== true && <span className="over compare-blank" style={{ clipPath: `inset(0 0 0 ${split}%)` }} />}
            {way === "slider" && <img className="over" {...picture} style={{ clipPath: `inset(0 0 0 ${split}%)`, visibility: seen?.ok === true ? "visible" : "hidden" }} />}
            {way === "slider" && <span className="compare-line" style={{ left: `${split}%` }} />}
            {way === "heat" && heat !== null && <img className="over heat" src={heat} alt={texts.heatMapOfTheDifferences} />}
            {way === "slider" && (
              <input
                type="range"
                min={0}
                max={100}
                value={split}
                aria-label={texts.targetOnTheLeftResult}
                onChange={(event) => setSplit(Number(event.target.value))}
              />
            )}
          </div>
        )}
        {way === "heat" && heat === null && <p className="muted">{scored.loading ? texts.comparing : texts.thereIsNoHeatMap}</p>}
      </div>
    </div>
  );
}
