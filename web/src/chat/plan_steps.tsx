/** The plan of the agent: its steps, and how far it is. */

import type { PlanStep } from "@heald/client";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { planSteps as texts } from "../texts/files";

const WORDS = { pending: texts.toDo, in_progress: texts.inProgress, done: texts.done } as const;

export function PlanSteps({ steps }: { steps: readonly PlanStep[] }) {
  if (steps.length === 0) return null;
  const done = steps.filter((step) => step.status === "done").length;
  return (
    <section className="plan-steps" aria-label={texts.plan}>
      <h2>
        {texts.plan} <span className="muted numeric">{texts.ofDone(done, steps.length)}</span>
      </h2>
      <ol>
        {steps.map((step, at) => (
          <li key={`${at}-${step.text}`} className={step.status} aria-current={step.status === "in_progress" ? "step" : undefined}>
            <span className="plan-sign" aria-hidden="true">
              {step.status === "done" ? <Icon name="check" size={14} /> : step.status === "in_progress" ? <Icon name="right" size={14} /> : null}
            </span>
            <span>{plain(step.text)}</span>
            <span className="unseen">, {WORDS[step.status]}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
