/** Another future of a session: what differs at an event, and the fork that continues from there. */

import type { ForkChangeBody, LogEvent } from "@heald/client";
import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Segmented } from "../parts/segmented";
import { firstWords } from "../parts/format";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { go } from "../shell/route";
import { whatIf as texts } from "../texts/events";
import { models, sessions } from "../wire/api";

type Part = "model" | "prompt" | "result" | "approval";

const LABELS: Record<Part, string> = { model: texts.model, prompt: texts.prompt, result: texts.result, approval: texts.approval };

/** What becomes of the session, in a sentence. */
const HINTS: Record<Part, string> = {
  model: texts.otherModelHint,
  prompt: texts.theExchangeOfThisEvent,
  result: texts.theCallGetsAnotherResult,
  approval: texts.decisionHint,
};

interface Props {
  session: string;
  event: LogEvent;
  onClose(): void;
}

export function WhatIf({ session, event, onClose }: Props) {
  const catalogue = useFetched("models", models);
  const offered = partsOf(event, catalogue.value?.fixed === true);
  const [chosen, setChosen] = useState<Part | null>(null);
  const [text, setText] = useState("");
  const [model, setModel] = useState("");
  const [isError, setIsError] = useState(false);
  const [allowed, setAllowed] = useState(false);
  const [busy, setBusy] = useState(false);
  const part = chosen ?? offered.at(-1) ?? "prompt";
  const names = catalogue.value?.models.map((view) => view.name) ?? [];
  const change = (): ForkChangeBody => {
    switch (part) {
      case "model":
        return { model: model || names[0] || null };
      case "prompt":
        return { prompt: text };
      case "result":
        return { result: { content: text, is_error: isError } };
      case "approval":
        return { approval: { decision: allowed ? "approve" : "deny", reason: text } };
    }
  };
  const fork = () => {
    setBusy(true);
    sessions
      .one(session)
      .then(({ title }) => sessions.fork(session, event.seq, part === "prompt" ? firstWords(text) : texts.another(title || "Session", part), change()))
      .then((view) => {
        onClose();
        go("compare", session, view.id);
      })
      .catch((error: unknown) => {
        setBusy(false);
        showFailure(error);
      });
  };
  return (
    <Dialog title={texts.whatIfAtEvent(event.seq)} onClose={onClose}>
      <Segmented label={texts.whatDiffers} value={part} onChange={setChosen} choices={offered.map((value) => ({ value, label: LABELS[value] }))} />
      <p className="muted">{HINTS[part]}</p>
      {part === "model" && (
        <label className="stack">
          <span>{texts.model}</span>
          <select className="select" value={model} onChange={(changed) => setModel(changed.target.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      {part === "approval" && (
        <Segmented
          label={texts.decision}
          value={allowed ? "allow" : "deny"}
          onChange={(value) => setAllowed(value === "allow")}
          choices={[
            { value: "deny", label: texts.deny },
            { value: "allow", label: texts.allow },
          ]}
        />
      )}
      {(part === "prompt" || part === "result" || (part === "approval" && !allowed)) && (
        <label className="stack">
          <span>{part === "approval" ? texts.reasonForTheModel : LABELS[part]}</span>
          <textarea className="field" rows={4} value={text} onChange={(changed) => setText(changed.target.value)} />
        </label>
      )}
      {part === "result" && (
        <label className="row">
          <input type="checkbox" checked={isError} onChange={(changed) => setIsError(changed.target.checked)} />
          <span>{texts.theCallFailed}</span>
        </label>
      )}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button look="primary" icon="branch" disabled={busy || (part === "prompt" && text.trim() === "") || (part === "model" && names.length === 0)} onClick={fork}>
          {texts.forkAndCompare}
        </Button>
      </div>
    </Dialog>
  );
}

/** The parts that can differ at an event. The program that runs the server may fix the model. */
function partsOf(event: LogEvent, fixed: boolean): Part[] {
  const parts: Part[] = fixed ? ["prompt"] : ["model", "prompt"];
  if (event.type.startsWith("tool_") && !event.type.startsWith("tool_use_content")) parts.push("result");
  if (event.type.startsWith("approval_")) parts.push("approval");
  return parts;
}
