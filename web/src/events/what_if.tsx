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
import { models, sessions } from "../wire/api";

type Part = "model" | "prompt" | "result" | "approval";

const LABELS: Record<Part, string> = { model: "Model", prompt: "Prompt", result: "Result", approval: "Approval" };

/** What becomes of the session, in a sentence. */
const HINTS: Record<Part, string> = {
  model: "Another model answers from this turn on.",
  prompt: "The exchange of this event runs again with another request.",
  result: "The call gets another result, and the model continues with it. The tool does not run.",
  approval: "The call is run or refused. A call that is allowed does run.",
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
      .then(({ title }) => sessions.fork(session, event.seq, part === "prompt" ? firstWords(text) : `${title || "Session"} · another ${part}`, change()))
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
    <Dialog title={`What if, at event ${event.seq}`} onClose={onClose}>
      <Segmented label="What differs" value={part} onChange={setChosen} choices={offered.map((value) => ({ value, label: LABELS[value] }))} />
      <p className="muted">{HINTS[part]}</p>
      {part === "model" && (
        <label className="stack">
          <span>Model</span>
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
          label="Decision"
          value={allowed ? "allow" : "deny"}
          onChange={(value) => setAllowed(value === "allow")}
          choices={[
            { value: "deny", label: "Deny" },
            { value: "allow", label: "Allow" },
          ]}
        />
      )}
      {(part === "prompt" || part === "result" || (part === "approval" && !allowed)) && (
        <label className="stack">
          <span>{part === "approval" ? "Reason, for the model" : LABELS[part]}</span>
          <textarea className="field" rows={4} value={text} onChange={(changed) => setText(changed.target.value)} />
        </label>
      )}
      {part === "result" && (
        <label className="row">
          <input type="checkbox" checked={isError} onChange={(changed) => setIsError(changed.target.checked)} />
          <span>The call failed</span>
        </label>
      )}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" icon="branch" disabled={busy || (part === "prompt" && text.trim() === "") || (part === "model" && names.length === 0)} onClick={fork}>
          Fork and compare
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
