/** What an agent needs a person for: leave to do something, or an answer. */

import { useState } from "react";
import type { ApprovalRequest, Question } from "../log/event";
import type { ToolItem } from "../log/item";
import { Button } from "../parts/button";
import { Diff } from "../parts/diff";
import { plain } from "../parts/format";
import { showFailure } from "../parts/toasts";
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
    <div className="ask" role="group" aria-label={`Allow ${request.name}?`}>
      <p>
        <strong>Allow this call of {plain(request.name)}?</strong>
      </p>
      <pre className="code-box" tabIndex={0}>
        {plain(request.summary)}
      </pre>
      {request.diff !== undefined && request.diff !== "" && <Diff text={plain(request.diff)} label="What it changes" />}
      <div className="row wrap">
        <Button look="primary" disabled={busy} onClick={() => decide("approve")}>
          Allow once
        </Button>
        <Button disabled={busy} onClick={() => decide("approve", true)}>
          Always allow this
        </Button>
        <Button disabled={busy} look="danger" onClick={() => decide("deny")}>
          Deny
        </Button>
        <input
          className="field grow"
          aria-label="Reason, if you deny it"
          placeholder="Reason, if you deny it"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </div>
    </div>
  );
}

function Answer({ question, session }: { question: Question; session: string }) {
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
      aria-label="Question"
      onSubmit={(event) => {
        event.preventDefault();
        answer(text);
      }}
    >
      <p>
        <strong>{plain(question.text)}</strong>
      </p>
      <div className="row wrap">
        {question.suggestions.map((suggestion) => (
          <Button key={suggestion} disabled={busy} onClick={() => answer(suggestion)}>
            {plain(suggestion)}
          </Button>
        ))}
      </div>
      <div className="row">
        <input
          className="field grow"
          aria-label="Another answer"
          placeholder="Or in other words…"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" look="primary" disabled={busy || text.trim() === ""}>
          Answer
        </Button>
      </div>
    </form>
  );
}
