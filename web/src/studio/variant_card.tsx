/** One of several agents at the same request: a small live picture, and how it is doing. */

import { totalOf } from "@heald/client";
import { memo, useState } from "react";
import { Elapsed } from "../chat/elapsed";
import { Steps } from "../chat/branch_steps";
import { Button, IconButton } from "../parts/button";
import { duration, inPlainWords, money, tokens, wholePercent } from "../parts/format";
import { Icon } from "../parts/icon";
import { showFailure } from "../parts/toasts";
import { variantCard as texts } from "../texts/project";
import { statusText } from "../texts/statuses";
import { isRunning, projects, type VariantView, type VersionView } from "../wire/api";
import { Frame } from "./frame";
import { QuestionBadge } from "./question_badge";
import { useSource } from "./source";

/** Milliseconds between two pictures of a page that grows: not of all at once. */
const PAUSE = 320;
const STAGGER = 10;

interface Props {
  project: string;
  version: VersionView;
  variant: VariantView;
  /** Whether it changes a page that is there. */
  changes: boolean;
  /** The name of its model as a person knows it. */
  label: string;
  chosen: boolean;
  /** Whether the version has other variants, so that this one can be removed. */
  removable: boolean;
  away: boolean;
  onChoose(index: number): void;
  onActed(): void;
}

export const VariantCard = memo(function VariantCard({ project, version, variant, changes, label, chosen, removable, away, onChoose, onActed }: Props) {
  const source = useSource(variant, changes, PAUSE + STAGGER * variant.index);
  const running = isRunning(variant);
  const asked = version.kind === "create" || version.kind === "update";
  const base = { version: version.id, variant: variant.index };
  const act = (action: "cancel" | "retry" | "remove") => {
    projects.act(project, base, action).then(onActed).catch(showFailure);
  };
  const tries = variant.tries;
  const at = tries.findIndex((attempt) => attempt.number === variant.number);
  const stepTo = (attempt: (typeof tries)[number] | undefined) =>
    attempt === undefined ? null : () => void projects.chooseTry(project, base, attempt.number).then(onActed).catch(showFailure);
  const number = variant.index + 1;
  const [waiting, setWaiting] = useState(true);
  const icon = running || source !== null ? <span className="spinner" /> : <Icon name={variant.status === "completed" ? "grid" : "alert"} size={20} />;
  return (
    <div className={`variant ${chosen ? "chosen" : ""} ${variant.status}`}>
      <button
        type="button"
        className="variant-choose"
        aria-pressed={chosen}
        title={[nameOf(version, label), errorOf(variant)].filter(Boolean).join(": ")}
        onClick={() => onChoose(variant.index)}
      >
        <span className="variant-thumb" aria-hidden="true">
          {source !== null && <Frame inert source={source} title={texts.variant(number)} onWaiting={setWaiting} />}
          {(source === null || waiting) && <span className="variant-blank">{icon}</span>}
          <kbd>{number}</kbd>
        </span>
        <span className="variant-about">
          <span className="row variant-line">
            <Status variant={variant} />
            <span className="unseen">{texts.variantNumber(number, statusText(variant.status))}</span>
            <span className="truncate grow">{nameOf(version, label)}</span>
          </span>
          <span className="variant-figures numeric">
            <Overall variant={variant} />
            <Mark variant={variant} />
            {running && <QuestionBadge session={variant.session} />}
            {asked && <Time variant={variant} />}
            <Spent variant={variant} />
          </span>
        </span>
      </button>
      {tries.length > 1 && (
        <span className="variant-tries">
          <Steps noun={texts.try} number={at + 1} count={tries.length} disabled={away} onPrevious={stepTo(tries[at - 1])} onNext={stepTo(tries[at + 1])} />
        </span>
      )}
      <span className={`variant-actions row ${running ? "running" : ""}`}>
        {asked && running && (
          <Button small look="danger" icon="stop" aria-label={texts.stopVariant(number)} disabled={away} onClick={() => act("cancel")}>
            {texts.stop}
          </Button>
        )}
        {asked && !running && (
          <IconButton
            small
            icon="reload"
            label={texts.retryVariant(number)}
            hint={variant.status === "completed" ? texts.retryAndKeep(number) : texts.retryVariant(number)}
            disabled={away}
            onClick={() => act("retry")}
          />
        )}
        {removable && !running && <IconButton small icon="trash" label={texts.removeVariant(number)} hint={texts.removeForNow(number)} disabled={away} onClick={() => act("remove")} />}
      </span>
    </div>
  );
});

const MADE = { create: "", import: texts.imported, update: "", edit: texts.editedByHand, restore: texts.restored } as const;

/** Who made it: a model, or a person. */
function nameOf(version: VersionView, label: string): string {
  return MADE[version.kind] || label || texts.variantLabel;
}

function Status({ variant }: { variant: VariantView }) {
  switch (variant.status) {
    case "queued":
    case "running":
      return <span className="spinner" />;
    case "completed":
      return (
        <span className={variant.note ? "" : "added"}>
          <Icon name={variant.note ? "info" : "check"} size={14} />
        </span>
      );
    default:
      return (
        <span className="removed">
          <Icon name={variant.status === "cancelled" ? "stop" : "alert"} size={14} />
        </span>
      );
  }
}

/** What is unusual about it, in two words. */
function Mark({ variant }: { variant: VariantView }) {
  switch (variant.status) {
    case "limit":
      return (
        <span className="badge warn" title={errorOf(variant)}>
          {texts.notComplete}
        </span>
      );
    case "failed":
      return (
        <span className="badge bad" title={errorOf(variant)}>
          {texts.failed}
        </span>
      );
    case "cancelled":
      return <span className="badge">{texts.stopped}</span>;
    case "completed":
      return variant.note ? (
        <span className="badge warn" title={variant.note}>
          {variant.note === "Nothing was changed." ? texts.noChange : texts.note}
        </span>
      ) : null;
    default:
      return null;
  }
}

/** Why it is not what it should be; empty if it is. */
export function errorOf(variant: VariantView): string {
  switch (variant.status) {
    case "limit":
      return texts.notCompleteReason(inPlainWords(variant.note ?? "")).trim();
    case "failed":
      return inPlainWords(variant.error?.message ?? texts.itFailed);
    case "cancelled":
      return texts.stoppedEarly;
    default:
      return variant.note ?? "";
  }
}

function Overall({ variant }: { variant: VariantView }) {
  if (variant.score === null) return null;
  return (
    <span className="badge accent" title={variant.draft_score ? texts.draftAndResult : texts.closeness}>
      {variant.draft_score && `${wholePercent(variant.draft_score.overall)} → `}
      {wholePercent(variant.score.overall)}
    </span>
  );
}

function Time({ variant }: { variant: VariantView }) {
  const start = seconds(variant.started);
  const end = seconds(variant.ended);
  if (start === null) return isRunning(variant) ? <span>{texts.waiting}</span> : null;
  return end === null ? <Elapsed since={start} /> : <span>{duration(Math.max(0, end - start) * 1000)}</span>;
}

function Spent({ variant }: { variant: VariantView }) {
  const used = totalOf(variant.usage);
  return (
    <>
      {used !== null && used > 0 && <span>{texts.tok(tokens(used))}</span>}
      {variant.cost_usd === null && variant.model !== "" && variant.ended !== null && <span>{texts.costUnknown}</span>}
      {variant.cost_usd !== null && variant.cost_usd > 0 && <span>{money(variant.cost_usd)}</span>}
    </>
  );
}

function seconds(moment: number | string | null): number | null {
  if (moment === null) return null;
  return typeof moment === "number" ? moment : Date.parse(moment) / 1000;
}
