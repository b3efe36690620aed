/** A session on a phone: what waits for a person, and a stop, within reach of a thumb. Notifications lead here. */

import { type ApprovalRequest, type Conversation, type Question, textOf } from "@heald/client";
import { useEffect, useReducer, useState } from "react";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { escapeLine } from "../parts/visible_text";
import { useFetched } from "../shell/fetched";
import { address } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { sessions } from "../wire/api";
import { Answer, Arguments } from "./ask";
import { PushSwitch } from "./push_switch";

/** Milliseconds between two questions to the server while an exchange runs. */
const PAUSE = 2000;

export function Decide({ id }: { id: string }) {
  const followed = useFollowed(id);
  const info = useFetched(`session ${id}`, () => sessions.one(id));
  const title = info.value?.title || "Session";
  useTabTitle(title);
  const { pending, refresh } = usePending(id, followed?.conversation ?? null);
  const error = info.error ?? followed?.error;
  if (error) {
    return (
      <div className="empty grow" role="alert">
        <p>{error.message}</p>
      </div>
    );
  }
  if (followed === null) return null;
  const { conversation } = followed;
  const approval = pending.approvals[0];
  const question = pending.questions[0];
  const waiting = pending.approvals.length + pending.questions.length;
  return (
    <div className="decide">
      <header className="decide-head">
        <h1>{title}</h1>
        <p className="muted" role="status">
          {describe(conversation, waiting)}
        </p>
      </header>
      <div className="decide-body">
        {approval !== undefined && (
          <section aria-label={`Allow ${approval.name}?`}>
            <h2>Allow this call of {escapeLine(approval.name)}?</h2>
            {approval.reason !== undefined && approval.reason !== "" && <p className="muted">{escapeLine(approval.reason)}</p>}
            <Arguments request={approval} />
          </section>
        )}
        {approval === undefined && question !== undefined && <Answer key={question.question} question={question} session={id} />}
        {waiting === 0 && <LastAnswer conversation={conversation} />}
        <p className="row wrap">
          <a href={address("session", id)}>Open the whole session</a>
          <PushSwitch />
        </p>
      </div>
      <footer className="decide-foot">
        {approval !== undefined && <Choices key={approval.approval} session={id} approval={approval.approval} digest={approval.digest} onDecided={refresh} />}
        {conversation.exchange !== null && <Stop session={id} />}
      </footer>
    </div>
  );
}

interface Pending {
  approvals: ApprovalRequest[];
  questions: Question[];
}

/** What waits in a session, and in the subagents that work for it: their events are not in its log, so the server is asked. */
function usePending(id: string, conversation: Conversation | null): { pending: Pending; refresh: () => void } {
  const [pending, setPending] = useState<Pending>({ approvals: [], questions: [] });
  const [round, refresh] = useReducer((count: number) => count + 1, 0);
  const running = conversation !== null && conversation.exchange !== null;
  const state = conversation === null ? "" : `${conversation.approvals.size} ${conversation.questions.size} ${conversation.status}`;
  useEffect(() => {
    let ended = false;
    const read = () => {
      sessions.pending(id).then(
        (view) => !ended && setPending({ approvals: view.approvals, questions: view.questions }),
        () => undefined, // the banner tells of a lost connection
      );
    };
    read();
    const timer = running ? window.setInterval(read, PAUSE) : undefined;
    return () => {
      ended = true;
      window.clearInterval(timer);
    };
  }, [id, running, state, round]);
  return { pending, refresh };
}

interface ChoicesProps {
  session: string;
  approval: string;
  digest: string;
  onDecided: () => void;
}

function Choices({ session, approval, digest, onDecided }: ChoicesProps) {
  const [busy, setBusy] = useState(false);
  const decide = (decision: "approve" | "deny") => {
    setBusy(true);
    sessions
      .decide(session, approval, { decision, digest })
      .then(onDecided)
      .catch((failure: unknown) => {
        setBusy(false);
        showFailure(failure);
      });
  };
  return (
    <div className="decide-choices">
      <Button look="danger" disabled={busy} onClick={() => decide("deny")}>
        Deny
      </Button>
      <Button look="primary" disabled={busy} onClick={() => decide("approve")}>
        Allow once
      </Button>
    </div>
  );
}

function Stop({ session }: { session: string }) {
  const [busy, setBusy] = useState(false);
  return (
    <Button
      disabled={busy}
      icon="stop"
      onClick={() => {
        setBusy(true);
        sessions.cancel(session).catch(showFailure).finally(() => setBusy(false));
      }}
    >
      Stop the work
    </Button>
  );
}

function LastAnswer({ conversation }: { conversation: Conversation }) {
  const last = conversation.messages.at(-1);
  const text = last?.role === "assistant" ? textOf(last) : "";
  return <p className="decide-answer">{text === "" ? "Nothing waits for you." : text}</p>;
}

function describe(conversation: Conversation, waiting: number): string {
  if (waiting > 1) return `${waiting} things wait for you.`;
  if (waiting === 1) return "It waits for you.";
  if (conversation.exchange !== null) return "It works.";
  return conversation.error === null ? "It is done." : conversation.error.message;
}
