/**
 * Three steps for a first visit. The tour marks what each step is about; it takes neither the focus nor the page, so that
 * who knows what to do just does it.
 */

import { useEffect, useState } from "react";
import { Button } from "../parts/button";
import { useKeys } from "../parts/keys";
import "../style/tour.css";

export interface TourStep {
  title: string;
  text: string;
  /** Selectors of what the step is about; the first that is visible is marked. */
  targets: readonly string[];
}

const LAST: TourStep = {
  title: "Come back to it",
  text: "Projects and conversations are listed in the menu. Search there, or press Ctrl+K. Help, or the key ?, lists the keys and shows this tour again.",
  targets: [".top-bar button", ".sidebar .search"], // on a phone the menu is beside the window until its button opens it
};

export const STUDIO_STEPS: readonly TourStep[] = [
  {
    title: "Say what to build",
    text: "Attach a screenshot, or pick one below, and press Build. With a provider's key a sentence is enough, and several models build it side by side.",
    targets: ["#begin"],
  },
  {
    title: "Or start from a finished project",
    text: "Each one opens as a project of yours. Choose Select and edit, then a text or a box, to change it; or edit the code. No key is needed.",
    targets: ["#gallery"],
  },
  LAST,
];

export const AGENT_STEPS: readonly TourStep[] = [
  {
    title: "Ask for something",
    text: "Write what you want and press Start. Every word, tool call and file change appears as it happens.",
    targets: ["#begin", ".start-box"],
  },
  {
    title: "You decide",
    text: "By default the agent asks before it does anything but read. You approve or deny each call, and can stop it at any time.",
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
    <section className="tour" aria-label="Tour">
      <div aria-live="polite">
        <p className="faint tour-count">
          Step {number + 1} of {steps.length}
        </p>
        <h2>{step.title}</h2>
        <p className="muted">{step.text}</p>
      </div>
      <div className="row">
        {!isLast && (
          <Button small look="quiet" onClick={onClose}>
            Skip the tour
          </Button>
        )}
        <span className="grow" />
        {number > 0 && (
          <Button small onClick={() => setNumber(number - 1)}>
            Back
          </Button>
        )}
        <Button small look="primary" onClick={() => (isLast ? onClose() : setNumber(number + 1))}>
          {isLast ? "Done" : "Next"}
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
