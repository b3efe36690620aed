/** A tool call: there with the first byte of its arguments, and one card until its result is known. */

import { type Item, type Json, type JsonObject, picturesOf, resultText, type ToolItem } from "@heald/client";
import { memo, useMemo, useState } from "react";
import { useDelegate } from "../live/hooks";
import { countOf, Diff } from "../parts/diff";
import { duration, plain } from "../parts/format";
import { Icon, type IconName } from "../parts/icon";
import { Picture } from "../parts/picture";
import { toolCard as texts } from "../texts/chat";
import { statusText } from "../texts/statuses";
import { Ask } from "./ask";
import { Elapsed } from "./elapsed";
import { AppFrame, appOf } from "./mcp_app";
import { Said, Thought } from "./messages";
import { ServerTool } from "./sources";

/** Characters of what still arrives that fit into its box. */
const SEEN = 900;

interface Props {
  item: ToolItem;
  session: string;
}

const WAITS_FOR_CLIENT = texts.waitsForAClient;

export const ToolCard = memo(function ToolCard({ item, session }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const waits = item.approval !== null || item.question !== null;
  const open = chosen ?? false;
  const diffs = item.changes.filter((change) => change.diff);
  const app = useMemo(() => appOf(item), [item]);
  return (
    <div
      className={`tool ${item.phase}${item.parent === null ? "" : " inner"}`}
      role="group"
      aria-label={item.parent === null ? texts.tool(item.name) : texts.toolCalledByTheProgram(item.name)}
    >
      <button type="button" className="tool-head" aria-expanded={open} onClick={() => setChosen(!open)}>
        <Sign item={item} />
        <span className="tool-name">{plain(item.name)}</span>
        <span className="tool-summary truncate">{plain(summaryOf(item))}</span>
        <Changes item={item} />
        <span className="tool-time numeric">
          {item.phase === "running" && item.started !== null && <Elapsed since={item.started} />}
          {item.durationMs !== null && duration(item.durationMs)}
        </span>
        <Icon name={open ? "down" : "right"} size={14} />
      </button>
      {!open && !waits && <Growing item={item} />}
      <Delegate call={item.id} session={session} />
      {waits && <Ask item={item} session={session} />}
      {open && (
        <div className="tool-body">
          {diffs.map((change) => (
            <figure key={`${change.path}-${change.revision}`} className="stack">
              <figcaption className="mono muted">{change.path}</figcaption>
              <Diff text={change.diff ?? ""} label={texts.differenceInRevision(change.path, change.revision)} />
            </figure>
          ))}
          <Part title={texts.input}>
            <Inputs input={item.input} json={item.json} />
          </Part>
          {item.invalid !== null && <div className="note warning">{item.invalid}</div>}
          {item.decision !== null && <Decision item={item} />}
          {item.answer !== null && <Part title={texts.answer}>{item.answer}</Part>}
          {item.output !== "" && item.result === null && <Part title={texts.outputSoFar}><Output text={item.output} /></Part>}
          {item.result !== null && (
            <Part title={item.result.truncated === true ? texts.outputShortened : texts.output}>
              {resultText(item.result) !== "" && <Output text={resultText(item.result)} />}
              <Pictures item={item} />
            </Part>
          )}
        </div>
      )}
      {app !== null && <AppFrame app={app} title={texts.appOf(plain(item.name))} />}
      {!open && item.result !== null && picturesOf(item.result).length > 0 && (
        <div className="tool-body">
          <Pictures item={item} />
        </div>
      )}
    </div>
  );
});

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="stack tool-part">
      <h4>{title}</h4>
      {children}
    </div>
  );
}

function Output({ text }: { text: string }) {
  return (
    <pre className="code-box" tabIndex={0}>
      {plain(text)}
    </pre>
  );
}

function Pictures({ item }: { item: ToolItem }) {
  if (item.result === null) return null;
  return (
    <div className="row wrap">
      {picturesOf(item.result).map((block, at) => (
        <Picture key={at} block={block} label={texts.pictureOf(at + 1, item.name)} />
      ))}
    </div>
  );
}

function Decision({ item }: { item: ToolItem }) {
  if (item.decision === null) return null;
  const { allowed, always, reason } = item.decision;
  return (
    <p className="muted">
      {allowed ? (always ? texts.alwaysAllowed : texts.allowed) : texts.denied}
      {reason ? `: ${plain(reason)}` : ""}
    </p>
  );
}

/** The last lines of what still arrives: the arguments, which are JSON, then the output. */
export function growingText(item: ToolItem): string {
  if (item.phase === "running") return item.output.slice(-SEEN);
  if (item.phase !== "writing") return "";
  return item.json.slice(-SEEN).replace(/\\(n|["\\])/g, (_, sign) => (sign === "n" ? "\n" : sign));
}

function Growing({ item }: { item: ToolItem }) {
  const text = growingText(item);
  if (text === "") return null;
  return (
    <pre className="tool-growing" aria-hidden="true">
      {plain(text)}
    </pre>
  );
}

function Sign({ item }: { item: ToolItem }) {
  const [icon, label] = signOf(item);
  if (icon === null) return <span className="spinner" role="img" aria-label={label} />;
  return (
    <span className={`tool-sign ${item.phase}`} role="img" aria-label={label}>
      <Icon name={icon} size={14} />
    </span>
  );
}

export function signOf(item: ToolItem): [IconName | null, string] {
  switch (item.phase) {
    case "writing":
      return [null, texts.beingWritten];
    case "running":
      return [null, texts.running];
    case "planned":
      return ["tool", texts.planned];
    case "waiting":
      if (item.onClient) return ["desktop", WAITS_FOR_CLIENT];
      return [item.question === null ? "lock" : "question", texts.waitingForYou];
    case "done":
      return ["check", texts.done];
    case "failed":
      if (hasFailingCode(item)) return ["alert", texts.failedWithExitCode(item.exitCode)];
      return ["alert", item.status === null || item.status === "ok" ? texts.failed : statusText(item.status)];
  }
}

const COUNTS = /(?:^|[ ,·]+)(?:new, )?(?:\d+ lines?|\+\d+ −\d+|[+]\d+ [-]\d+)$/;

/** How the result of a command begins. */
const EXIT = /^exit code \d+(?:, [\d.]+ s)?(?:, )?/;

/** What a call does, and what came of it. */
export function summaryOf(item: ToolItem): string {
  if (item.onClient) return item.subject ? `${WAITS_FOR_CLIENT} · ${item.subject}` : WAITS_FOR_CLIENT;
  const outcome = outcomeOf(item);
  const subject = subjectOf(item, outcome);
  const parts = outcome.includes(subject) ? [outcome] : [subject, outcome];
  if (hasFailingCode(item)) parts.unshift(texts.exitCode(item.exitCode));
  else if (item.phase === "failed" && item.status !== null && item.status !== "error" && item.status !== "ok") parts.unshift(statusText(item.status));
  return parts.filter((part) => part !== "").join(" · ");
}

function outcomeOf(item: ToolItem): string {
  if (hasFailingCode(item)) return item.summary.replace(EXIT, ""); // it stands in front
  // The lines that a call changed are counted once, beside it.
  return item.changes.length > 0 ? item.summary.replace(COUNTS, "").trim() : item.summary;
}

/** The files that it wrote, else its tool's words; a log without those has its path or command. */
function subjectOf(item: ToolItem, outcome: string): string {
  const files = filesOf(item);
  const isOver = item.phase === "done" || item.phase === "failed";
  if (files.length > 0 && (isOver || item.subject === "")) return files.some((path) => outcome.includes(path)) ? "" : listed(files);
  if (item.subject !== "" || !isOver) return item.subject;
  const named = item.input?.["command"] ?? item.input?.["path"];
  return typeof named === "string" ? named.slice(0, MAX_SUBJECT).replace(/\s+/g, " ") : "";
}

function hasFailingCode(item: ToolItem): boolean {
  return item.phase === "failed" && (item.exitCode ?? 0) !== 0;
}

const MAX_SUBJECT = 120;

/** The files that a call writes, by their paths: its result counts lines and does not repeat them. */
function filesOf(item: ToolItem): string[] {
  const isWriter = item.writing !== null || typeof item.input?.["path"] === "string";
  if (isWriter && item.changes.length > 0) return [...new Set(item.changes.map((change) => change.path))];
  return item.writing === null ? [] : [item.writing];
}

const MAX_LISTED = 3;

function listed(paths: readonly string[]): string {
  const rest = paths.length - MAX_LISTED;
  return paths.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? texts.andMore(rest) : "");
}

function Changes({ item }: { item: ToolItem }) {
  const counts = item.changes.map((change) => countOf(change.diff ?? ""));
  const added = counts.reduce((sum, count) => sum + count.added, 0);
  const removed = counts.reduce((sum, count) => sum + count.removed, 0);
  if (added + removed === 0) return null;
  return (
    <span className="changes numeric">
      <span className="added">+{added}</span> <span className="removed">−{removed}</span>
    </span>
  );
}

/** The arguments of a call: long texts as texts, everything else as JSON. */
function Inputs({ input, json }: { input: JsonObject | null; json: string }) {
  if (input === null) {
    return (
      <pre className="code-box" tabIndex={0}>
        {plain(json) || "…"}
      </pre>
    );
  }
  const pairs = Object.entries(input);
  if (pairs.length === 0) return <p className="faint">{texts.noArguments}</p>;
  return (
    <dl className="inputs">
      {pairs.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{plain(name)}</dt>
          <dd>
            <Value value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ value }: { value: Json }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (text.length < 80 && !text.includes("\n")) return <code>{plain(text)}</code>;
  return (
    <pre className="code-box" tabIndex={0}>
      {plain(text)}
    </pre>
  );
}

/** An agent that works for a call: what it says and does, inside the call's card. */
function Delegate({ call, session }: { call: string; session: string }) {
  const conversation = useDelegate(session, call);
  if (conversation === null || conversation.transcript.items.length === 0) return null;
  return (
    <div className="delegate">
      {conversation.transcript.items.map((item) => (
        <DelegatePart key={item.key} item={item} session={conversation.session} />
      ))}
    </div>
  );
}

function DelegatePart({ item, session }: { item: Item; session: string }) {
  if (item.kind === "text") return <Said item={item} />;
  if (item.kind === "thinking") return <Thought item={item} />;
  if (item.kind === "server_tool") return <ServerTool item={item} />;
  return item.kind === "tool" ? <ToolCard item={item} session={session} /> : null;
}
