/** One of several agents at the same request: a small live picture, and how it is doing. */

import { memo } from "react";
import { Elapsed } from "../chat/elapsed";
import { totalOf } from "../log/usage";
import { IconButton } from "../parts/button";
import { duration, money, tokens } from "../parts/format";
import { Icon } from "../parts/icon";
import { showFailure } from "../parts/toasts";
import { projects, type VariantView, type VersionView } from "../wire/api";
import { Frame } from "./frame";
import { useSource } from "./source";

/** Milliseconds between two pictures of a page that grows: not of all at once, and seldom of one that is shown large. */
const PAUSE = 2500;
const STAGGER = 170;
const SHOWN_LARGE = 4000;

interface Props {
  project: string;
  version: string;
  variant: VariantView;
  chosen: boolean;
  /** The variant began with a page that was there already. */
  changes: boolean;
  onChoose(index: number): void;
  /** What was done gave this version, which may be another. */
  onActed(version: VersionView): void;
}

export const VariantCard = memo(function VariantCard({ project, version, variant, chosen, changes, onChoose, onActed }: Props) {
  const pause = chosen ? SHOWN_LARGE : PAUSE + STAGGER * variant.index;
  const source = useSource(variant, changes, pause);
  const running = variant.status === "running" || variant.status === "queued";
  const act = (action: "cancel" | "retry") => {
    projects.act(project, { version, variant: variant.index }, action).then(onActed).catch(showFailure);
  };
  const number = variant.index + 1;
  return (
    <div className={`variant ${chosen ? "chosen" : ""}`}>
      <button
        type="button"
        className="variant-choose"
        aria-pressed={chosen}
        title={`Alt+${number}`}
        onClick={() => onChoose(variant.index)}
      >
        <span className="variant-thumb" aria-hidden="true">
          {source === null ? (
            <span className="variant-blank">{running ? <span className="spinner" /> : <Icon name="grid" size={20} />}</span>
          ) : (
            <Frame inert source={source} title={`Variant ${number}`} pause={pause} />
          )}
          <kbd>{number}</kbd>
        </span>
        <span className="row variant-line">
          <Status variant={variant} />
          <span className="unseen">{`Variant ${number}, ${variant.status}: `}</span>
          <span className="truncate grow">{variant.model.split("/").at(-1)}</span>
          {variant.status === "limit" && (
            <span className="badge warn" title={errorOf(variant)}>
              Not complete
            </span>
          )}
          <Overall variant={variant} />
        </span>
        <span className="variant-figures numeric">
          <Time variant={variant} />
          <Spent variant={variant} />
        </span>
      </button>
      <span className="variant-actions">
        {running ? (
          <IconButton small icon="stop" label={`Cancel variant ${number}`} onClick={() => act("cancel")} />
        ) : (
          <IconButton small icon="reload" label={`Retry variant ${number}`} onClick={() => act("retry")} />
        )}
      </span>
    </div>
  );
});

function Status({ variant }: { variant: VariantView }) {
  switch (variant.status) {
    case "queued":
    case "running":
      return <span className="spinner" />;
    case "completed":
      return (
        <span className="added">
          <Icon name="check" size={14} />
        </span>
      );
    default:
      return (
        <span className="removed" title={errorOf(variant)}>
          <Icon name={variant.status === "cancelled" ? "stop" : "alert"} size={14} />
        </span>
      );
  }
}

export function errorOf(variant: VariantView): string {
  if (variant.status === "limit") return `Not complete. ${variant.note ?? ""}`.trim();
  return variant.error?.message ?? variant.status;
}

function Overall({ variant }: { variant: VariantView }) {
  if (variant.score === null) return null;
  const percent = Math.round(variant.score.overall <= 1 ? variant.score.overall * 100 : variant.score.overall);
  return (
    <span className="badge accent" title="How close it is to the target">
      {percent} %
    </span>
  );
}

function Time({ variant }: { variant: VariantView }) {
  const start = seconds(variant.started);
  const end = seconds(variant.ended);
  if (start === null) return <span>waiting</span>;
  return end === null ? <Elapsed since={start} /> : <span>{duration(Math.max(0, end - start) * 1000)}</span>;
}

function Spent({ variant }: { variant: VariantView }) {
  const used = totalOf(variant.usage);
  return (
    <>
      {used !== null && used > 0 && <span>{tokens(used)} tok</span>}
      {variant.cost_usd !== null && variant.cost_usd > 0 && <span>{money(variant.cost_usd)}</span>}
    </>
  );
}

function seconds(moment: number | string | null): number | null {
  if (moment === null) return null;
  return typeof moment === "number" ? moment : Date.parse(moment) / 1000;
}
