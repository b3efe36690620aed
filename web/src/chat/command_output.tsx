/** A command that the agent ran: what it was, how it ended, and its output, folded. */

import { type Json, resultText, type ToolItem } from "@heald/client";
import { plain } from "../parts/format";
import { commandOutput as texts } from "../texts/files";
import { statusText } from "../texts/statuses";

export function CommandOutput({ item }: { item: ToolItem }) {
  const output = item.result === null ? item.output : resultText(item.result);
  return (
    <details className="command-output">
      <summary>
        <code className="truncate grow">{`$ ${plain(commandOf(item))}`}</code>
        <span className={`badge ${item.exitCode === 0 ? "ok" : item.exitCode === null ? "" : "bad"}`}>{stateOf(item)}</span>
      </summary>
      <pre className="code-box" tabIndex={0} role="region" aria-label={texts.outputOf(plain(commandOf(item)))}>
        {output === "" ? texts.noOutput : plain(output)}
      </pre>
    </details>
  );
}

function commandOf(item: ToolItem): string {
  const command: Json | undefined = item.input?.["command"];
  return typeof command === "string" ? command : item.subject || item.name;
}

function stateOf(item: ToolItem): string {
  if (item.exitCode !== null) return texts.exit(item.exitCode);
  if (item.phase === "running") return texts.runs;
  return statusText(item.status ?? item.phase);
}
