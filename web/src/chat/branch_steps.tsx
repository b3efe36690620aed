/** Steps through things of which one is shown, such as the answers to a message: ‹ 2 of 3 ›. */

import type { Crossing } from "@heald/client";
import { IconButton } from "../parts/button";
import { branchSteps as texts } from "../texts/chat";

interface StepsProps {
  /** What there are several of, such as "answer". */
  noun: string;
  number: number;
  count: number;
  disabled?: boolean;
  onPrevious: (() => void) | null;
  onNext: (() => void) | null;
}

export function Steps({ noun, number, count, disabled = false, onPrevious, onNext }: StepsProps) {
  return (
    <span className="steps" role="group" aria-label={texts.of(noun, number, count)}>
      <IconButton small icon="left" label={texts.previous(noun.toLowerCase())} disabled={disabled || onPrevious === null} onClick={() => onPrevious?.()} />
      <span className="numeric">
        {texts.ofNumber(number, count)}
      </span>
      <IconButton small icon="right" label={texts.next(noun.toLowerCase())} disabled={disabled || onNext === null} onClick={() => onNext?.()} />
    </span>
  );
}

/** Steps through the branches at a message. */
export function BranchSteps({ crossing, idle, onSwitch }: { crossing: Crossing | null; idle: boolean; onSwitch(seq: number): void }) {
  if (crossing === null) return null;
  const { number, count, previous, next } = crossing;
  return (
    <div className="branch-steps">
      <Steps
        noun={texts.branch}
        number={number}
        count={count}
        disabled={!idle}
        onPrevious={previous === null ? null : () => onSwitch(previous)}
        onNext={next === null ? null : () => onSwitch(next)}
      />
    </div>
  );
}
