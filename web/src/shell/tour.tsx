/**
 * Three steps for a first visit. The tour marks what each step is about; it takes neither the focus nor the page, so that
 * who knows what to do just does it.
 */

import { useEffect, useState } from "react";
import { Button } from "../parts/button";
import { useKeys } from "../parts/keys";
import "../style/tour.css";
import { tour as texts } from "../texts/shell";

export interface TourStep {
  title: string;
  text: string;
  /** Selectors of what the step is about; the first that is visible is marked. */
  targets: readonly string[];
}

const LAST: TourStep = {
  title: texts.comeBackToIt,
  text: texts.projectsAndConversationsAreListed,
  targets: [".top-bar button", ".sidebar .search"], // on a phone the menu is beside the window until its button opens it
};

export const STUDIO_STEPS: readonly TourStep[] = [
  {
    title: texts.sayWhatToBuild,
    text: texts.attachAScreenshotOrPick,
    targets: ["#begin"],
  },
  {
    title: texts.orStartFromAFinished,
    text: texts.galleryHint,
    targets: ["#gallery"],
  },
  LAST,
];

export const AGENT_STEPS: readonly TourStep[] = [
  {
    title: texts.askForSomething,
    text: texts.writeHint,
    targets: ["#begin", ".start-box"],
  },
  {
    title: texts.youDecide,
    text: texts.byDefaultTheAgentAsks,
    targets: ["select[aria-label='Permissions']", ".start-box"],
  },
  LAST,
];

export function Tour({ steps, onClose }: { steps: readonly TourStep[]; onClose(): void }) {
  const [number, setNumber] = useState(0);
  const step = steps[number];
  useMark(step);
  useKeys({ Escape: onClose }, { typing: true });
  if (step === undefined) return null;
  const isLast = number === steps.length - 1;
  return (
    <section className="tour" aria-label={texts.tour}>
      <div aria-live="polite">
        <p className="faint tour-count">
          {texts.stepOf(number + 1, steps.length)}
        </p>
        <h2>{step.title}</h2>
        <p className="muted">{step.text}</p>
      </div>
      <div className="row">
        {!isLast && (
          <Button small look="quiet" onClick={onClose}>
            {texts.skipTheTour}
          </Button>
        )}
        <span className="grow" />
        {number > 0 && (
          <Button small onClick={() => setNumber(number - 1)}>
            {texts.back}
          </Button>
        )}
        <Button small look="primary" onClick={() => (isLast ? onClose() : setNumber(number + 1))}>
          {isLast ? texts.done : texts.next}
        </Button>
      </div>
    </section>
  );
}

/** Marks what a step is about, and brings it into view. In a window of another size that may be another element. */
function useMark(step: TourStep | undefined): void {
  useEffect(() => {
    let target: HTMLElement | undefined;
    const mark = () => {
      const elements = (step?.targets ?? []).map((selector) => document.querySelector<HTMLElement>(selector));
      const next = elements.find((element) => element?.checkVisibility() === true) ?? undefined;
      if (next === target) return;
      delete target?.dataset["tour"];
      target = next;
      if (next === undefined) return;
      next.dataset["tour"] = "";
      next.scrollIntoView({ block: "nearest" });
    };
    mark();
    addEventListener("resize", mark);
    return () => {
      removeEventListener("resize", mark);
      delete target?.dataset["tour"];
    };
  }, [step]);
}
