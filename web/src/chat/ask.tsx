/** What an agent needs a person for: leave to do something, or an answer. */

import type { ApprovalRequest, Question, ToolItem } from "@heald/client";
import { useState } from "react";
import { Button } from "../parts/button";
import { Diff } from "../parts/diff";
import { showFailure } from "../parts/toasts";
import { HiddenNotes, VisibleText } from "../parts/visible";
import { escapeLine } from "../parts/visible_text";
import { ask as texts } from "../texts/chat";
import { sessions } from "../wire/api";

export function Ask({ item, session }: { item: ToolItem; session: string }) {
  if (item.approval !== null) return <Approve request={item.approval} session={session} />;
  if (item.question !== null) return <Answer question={item.question} session={session} />;
  return null;
}

function Approve({ request, session }: { request: ApprovalRequest; session: string }) {
  const [busy, setBusy] = useState(false);
  const [reason, setReason] = useState("");
  const decide = (decision: "approve" | "deny", always = false) => {
    setBusy(true);
    sessions
      .decide(session, request.approval, {
        decision,
        digest: request.digest,
        ...(always ? { always } : {}),
        ...(reason ? { reason } : {}),
      })
      .catch(showFailure)
      .finally(() => setBusy(false));
  };
  return (
    <div className="ask" role="group" aria-label={texts.allow(request.name)}>
      <p>
        <strong>{texts.allowThisCallOf(escapeLine(request.name))}</strong>
      </p>
      <Arguments request={request} />
      {request.reason !== undefined && request.reason !== "" && <p className="muted">{escapeLine(request.reason)}</p>}
      <div className="row wrap">
        <Button look="primary" disabled={busy} onClick={() => decide("approve")}>
          {texts.allowOnce}
        </Button>
        <Button disabled={busy} onClick={() => decide("approve", true)}>
          {texts.alwaysAllowThis}
        </Button>
        <Button disabled={busy} look="danger" onClick={() => decide("deny")}>
          {texts.deny}
        </Button>
        <input
          className="field grow"
          aria-label={texts.reasonIfYouDenyIt}
          placeholder={texts.reasonIfYouDenyIt}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </div>
  );
}

/** Arguments that the diff of a call shows. */
const IN_DIFF = ["content", "old_text", "new_text", "edits", "patch"];
/** Arguments in which punctuation matters. */
const COMMANDS = ["command", "url", "cwd", "path"];
const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/** All that the tool gets, and the diff that it makes. */
export function Arguments({ request }: { request: ApprovalRequest }) {
  const diff = request.diff ?? "";
  const input = Object.entries(request.input ?? {}).map(([name, value]): [string, string] => [
    PLAIN_NAME.test(name) ? name : escapeLine(JSON.stringify(name)),
    typeof value === "string" ? value : JSON.stringify(value, null, 2),
  ]);
  if (input.length === 0 && request.summary !== "") {
    return <VisibleText text={request.summary} label={texts.whatItDoes} />; // of a log of an older version
  }
  const hasLines = diff !== "" && !diff.startsWith("Binary files ");
  const inDiff = input.filter(([name]) => hasLines && IN_DIFF.includes(name));
  return (
    <>
      <Inputs input={input.filter((pair) => !inDiff.includes(pair))} />
      {diff !== "" && <Diff text={diff} label={texts.whatItChanges} heads={!("path" in (request.input ?? {}))} />}
      {inDiff.length > 0 && (
        <details>
          <summary>{texts.allArguments}</summary>
          <Inputs input={inDiff} />
        </details>
      )}
      {input.map(([name, text]) => (
        <HiddenNotes key={name} text={text} name={name} isCommand={COMMANDS.includes(name)} />
      ))}
      {diff !== "" && <HiddenNotes text={diff} name="The diff" />}
    </>
  );
}

function Inputs({ input }: { input: [string, string][] }) {
  return (
    <dl className="inputs">
      {input.map(([name, text]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd className="stack">
            <VisibleText text={text} label={texts.argument(name)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Answer({ question, session }: { question: Question; session: string }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const answer = (words: string) => {
    if (words.trim() === "") return;
    setBusy(true);
    sessions.answer(session, question.question, words).catch(showFailure).finally(() => setBusy(false));
  };
  return (
    <form
      className="ask"
      aria-label={texts.question}
      onSubmit={(event) => {
        event.preventDefault();
        answer(text);
      }}
    >
      <VisibleText text={question.text} label={texts.whatIsAsked} />
      <HiddenNotes text={[question.text, ...question.suggestions].join("\n")} name="The question" />
      <div className="row wrap">
        {question.suggestions.map((suggestion) => (
          <Button key={suggestion} disabled={busy} onClick={() => answer(suggestion)}>
            {escapeLine(suggestion)}
          </Button>
        ))}
      </div>
      <div className="row">
        <input
          className="field grow"
          aria-label={texts.anotherAnswer}
          placeholder={texts.orInOtherWords}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={busy || text.trim() === ""}>
          {texts.answer}
        </Button>
      </div>
    </form>
  );
}
