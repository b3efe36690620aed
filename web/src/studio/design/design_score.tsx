/** How far a page keeps to the design system, and the values that do not. */

import { wholePercent } from "../../parts/format";
import { useFetched } from "../../shell/fetched";
import { designScore as texts } from "../../texts/design";
import type { Base } from "../../wire/api";
import { designs } from "./design_calls";
import { KINDS } from "./design_lines";
import { Swatch } from "./design_tokens";

interface Props {
  project: string;
  base: Base;
  page: string;
  /** What the score depends on besides the variant; null while there is nothing to score. */
  state: string | null;
}

export function DesignScorePanel({ project, base, page, state }: Props) {
  const scored = useFetched(state === null ? null : `design score of ${project} ${base.version}.${base.variant} ${page} ${state}`, () => designs.score(project, base, page));
  if (state === null) return <p className="muted">{texts.thePageIsScoredOnce}</p>;
  if (scored.error !== null) return <p className="note error">{scored.error.message}</p>;
  const score = scored.value;
  if (score === null) return <p className="faint" role="status">{texts.renderingThePage}</p>;
  if (score.share === null) return <p className="muted">{texts.thePageUsesNoValues}</p>;
  return (
    <>
      <p className="design-share numeric">
        <strong>{wholePercent(score.share)}</strong> {texts.share}
      </p>
      <dl className="design-kinds numeric">
        {score.kinds.map((kind) => (
          <div key={kind.kind}>
            <dt>{KINDS.find((candidate) => candidate.kind === kind.kind)?.heading}</dt>
            <dd>
              <meter min={0} max={kind.total} value={kind.kept} aria-label={texts.of(kind.kept, kind.total)} />
              <span>{wholePercent(kind.kept / kind.total)}</span>
            </dd>
          </div>
        ))}
      </dl>
      {score.strays.length > 0 && (
        <>
          <h3>{texts.otherValues}</h3>
          <ul className="design-strays" aria-label={texts.otherValues}>
            {score.strays.map((stray) => (
              <li key={`${stray.kind} ${stray.value}`}>
                <span className="row">
                  {stray.kind === "color" && <Swatch value={stray.value} />}
                  <code className="truncate">{stray.value}</code>
                  <span className="faint grow truncate">
                    {stray.property}
                    {stray.count > 1 && ` × ${stray.count}`}
                  </span>
                </span>
                <span className="faint design-place" title={stray.path}>
                  {stray.path}
                  {stray.text !== "" && ` “${stray.text}”`}
                </span>
                {stray.nearest !== "" && <span className="faint">{texts.nearest(stray.nearest)}</span>}
              </li>
            ))}
          </ul>
        </>
      )}
      {score.is_cut && <p className="faint">{texts.thePageIsLargeOnly}</p>}
    </>
  );
}
