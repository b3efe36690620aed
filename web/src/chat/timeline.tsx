/** The work of an agent in its order: the plan, and a checkpoint for each request, to which files and conversation can go back. */

import "../style/timeline.css";
import { type Checkpoint, checkpointsOf, type Conversation, planOf } from "@heald/client";
import { useState } from "react";
import { Button } from "../parts/button";
import { countOf } from "../parts/diff";
import { firstWords } from "../parts/format";
import { showFailure, showToast } from "../parts/toasts";
import { go } from "../shell/route";
import { timeline as texts } from "../texts/files";
import { statusText } from "../texts/statuses";
import { sessions } from "../wire/api";
import { CommandOutput } from "./command_output";
import { PlanSteps } from "./plan_steps";

export function Timeline({ session, conversation }: { session: string; conversation: Conversation }) {
  const [busy, setBusy] = useState(false);
  const items = conversation.transcript.items;
  const checkpoints = checkpointsOf(items);
  const behind = conversation.branchesBehind()?.previous ?? null;
  const idle = conversation.exchange === null && !busy;
  const restore = (seq: number) => {
    setBusy(true);
    sessions
      .rewind(session, seq, true)
      .then(() => showToast(texts.wentBackFilesThatSomething))
      .catch(showFailure)
      .finally(() => setBusy(false));
  };
  if (checkpoints.length === 0 && behind === null) return <div className="empty">{texts.noRequests}</div>;
  return (
    <div className="timeline">
      <PlanSteps steps={planOf(items)} />
      <ol className="checkpoints" aria-label={texts.checkpoints}>
        {checkpoints.map((checkpoint, at) => (
          <li key={checkpoint.key} className="checkpoint">
            <Point session={session} checkpoint={checkpoint} number={at + 1} idle={idle} onRestore={restore} />
          </li>
        ))}
        {behind !== null && (
          <li className="checkpoint later">
            <div className="row wrap">
              <span className="grow muted">{texts.laterState}</span>
              <Button small icon="redo" disabled={!idle} onClick={() => restore(behind)}>
                {texts.returnToTheLaterState}
              </Button>
            </div>
          </li>
        )}
      </ol>
    </div>
  );
}

interface PointProps {
  session: string;
  checkpoint: Checkpoint;
  number: number;
  idle: boolean;
  onRestore(seq: number): void;
}

function Point({ session, checkpoint, number, idle, onRestore }: PointProps) {
  const title = firstWords(checkpoint.words) || texts.aRequest;
  const outcome = checkpoint.outcome === null ? texts.runs : checkpoint.outcome === "completed" ? "" : statusText(checkpoint.outcome);
  return (
    <article className="stack" aria-label={texts.checkpoint(number, title)}>
      <div className="row wrap">
        <h3 className="grow truncate" title={title}>
          {title}
        </h3>
        {outcome !== "" && <span className="badge">{outcome}</span>}
        <Button small look="quiet" icon="undo" disabled={!idle} aria-label={texts.goBackTo(title)} onClick={() => onRestore(checkpoint.before)}>
          {texts.goBackToBeforeThisLabel}
        </Button>
      </div>
      {filesOf(checkpoint).map((file) => (
        <button key={file.path} type="button" className="checkpoint-file" onClick={() => go("session", session, "files")}>
          <span className="mono truncate grow">{file.path}</span>
          <span className="changes numeric">
            <span className="added">+{file.added}</span> <span className="removed">−{file.removed}</span>
          </span>
        </button>
      ))}
      {checkpoint.commands.map((item) => (
        <CommandOutput key={item.key} item={item} />
      ))}
    </article>
  );
}

interface ChangedFile {
  path: string;
  added: number;
  removed: number;
}

/** The files that changed, each once. */
function filesOf(checkpoint: Checkpoint): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const change of checkpoint.changes) {
    const { added, removed } = countOf(change.diff ?? "");
    const before = files.get(change.path) ?? { path: change.path, added: 0, removed: 0 };
    files.set(change.path, { path: change.path, added: before.added + added, removed: before.removed + removed });
  }
  return [...files.values()];
}
