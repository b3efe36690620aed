/** A command that the agent ran: what it was, how it ended, and its output, folded. */

import { type Json, resultText, type ToolItem } from "@heald/client";
import { plain } from "../parts/format";

export function CommandOutput({ item }: { item: ToolItem }) {
  const output = item.result === null ? item.output : resultText(item.result);
  return (
    <details className="command-output">
      <summary>
        <code className="truncate grow">{`$ ${plain(commandOf(item))}`}</code>
        <span className={`badge ${item.exitCode === 0 ? "ok" : item.exitCode === null ? "" : "bad"}`}>{stateOf(item)}</span>
      </summary>
      <pre className="code-box" tabIndex={0} role="region" aria-label={`Output of ${plain(commandOf(item))}`}>
        {output === "" ? "No output." : plain(output)}
      </pre>
    </details>
  );
}

function commandOf(item: ToolItem): string {
  const command: Json | undefined = item.input?.["command"];
  return typeof command === "string" ? command : item.subject || item.name;
}

function stateOf(item: ToolItem): string {
  if (item.exitCode !== null) return `exit ${item.exitCode}`;
  if (item.phase === "running") return "runs";
  return item.status ?? item.phase;
}
