/** What wrote lines of an element: the model or person, the event, and the request that asked for it. */

import { ago, firstWords } from "../../parts/format";
import { address } from "../../shell/route";
import { causeWriting as texts } from "../../texts/cause";
import type { Writing } from "../../wire/api";

interface Props {
  project: string;
  number: number;
  writing: Writing;
  /** The name of the model; empty if none wrote it. */
  model: string;
}

export function CauseWriting({ project, number, writing, model }: Props) {
  return (
    <li className="cause-writing">
      <span className={`cause-mark by-${(number - 1) % 5}`}>{number}</span>
      <div className="stack">
        <strong>{authorOf(writing, model)}</strong>
        {writing.request !== "" && (
          <a href={address("project", project, "preview", writing.version)} title={writing.request}>
            “{firstWords(writing.request)}”
          </a>
        )}
        <span className="row wrap faint">
          <a href={address("project", project, "history", writing.version)}>{texts.version(writing.number)}</a>
          {writing.seq > 0 && <a href={address("session", writing.session, "events", String(writing.seq))}>{texts.event(writing.seq)}</a>}
          {writing.tool !== "" && <code>{writing.tool}</code>}
          <span>{ago(writing.time)}</span>
        </span>
      </div>
    </li>
  );
}

function authorOf(writing: Writing, model: string): string {
  switch (writing.author) {
    case "person":
      return writing.kind === "import" ? texts.imported : texts.editedByHand;
    case "draft":
      return texts.draftByTheLocalConverter;
    case "start":
      return texts.filesThatTheVersionBegan;
    case "model":
      return model || texts.aModel;
  }
}
