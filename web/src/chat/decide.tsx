/** A session on a phone: what waits for a person, and a stop, within reach of a thumb. Notifications lead here. */

import "../style/decide.css";
import { type ApprovalRequest, type Conversation, type Question, textOf } from "@heald/client";
import { useState } from "react";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { escapeLine } from "../parts/visible_text";
import { useFetched } from "../shell/fetched";
import { usePolling, useReloadOn } from "../shell/polling";
import { address } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { decide as texts } from "../texts/decide";
import { sessions } from "../wire/api";
import { Answer, Arguments } from "./ask";
import { PushSwitch } from "./push_switch";

/** Milliseconds between two questions to the server while an exchange runs. */
const PAUSE = 2000;

export function Decide({ id }: { id: string }) {
  const followed = useFollowed(id);
  const info = useFetched(`session ${id}`, () => sessions.one(id));
  const title = info.value?.title || texts.session;
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
          <section aria-label={texts.allow(approval.name)}>
            <h2>{texts.allowThisCallOf(escapeLine(approval.name))}</h2>
            {approval.reason !== undefined && approval.reason !== "" && <p className="muted">{escapeLine(approval.reason)}</p>}
            <Arguments request={approval} />
          </section>
        )}
        {approval === undefined && question !== undefined && <Answer key={question.question} question={question} session={id} />}
        {waiting === 0 && <LastAnswer conversation={conversation} />}
        <p className="row wrap">
          <a href={address("session", id)}>{texts.openTheWholeSession}</a>
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

const NOTHING: Pending = { approvals: [], questions: [] };

/** What waits in a session, and in the subagents that work for it: their events are not in its log, so the server is asked. */
function usePending(id: string, conversation: Conversation | null): { pending: Pending; refresh: () => void } {
  const running = conversation !== null && conversation.exchange !== null;
  const state = conversation === null ? "" : `${conversation.approvals.size} ${conversation.questions.size} ${conversation.status}`;
  const fetched = useFetched<Pending>(`pending of ${id}`, () => sessions.pending(id), { isVolatile: true });
  usePolling(fetched, running ? PAUSE : null);
  useReloadOn(fetched, `${state} ${running}`);
  return { pending: fetched.value ?? NOTHING, refresh: fetched.reload };
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
        {texts.deny}
      </Button>
      <Button look="primary" disabled={busy} onClick={() => decide("approve")}>
        {texts.allowOnce}
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
      {texts.stopTheWork}
    </Button>
  );
}

function LastAnswer({ conversation }: { conversation: Conversation }) {
  const last = conversation.messages.at(-1);
  const text = last?.role === "assistant" ? textOf(last) : "";
  return <p className="decide-answer">{text === "" ? texts.nothingWaitsForYou : text}</p>;
}

function describe(conversation: Conversation, waiting: number): string {
  if (waiting > 1) return texts.thingsWaitForYou(waiting);
  if (waiting === 1) return texts.itWaitsForYou;
  if (conversation.exchange !== null) return texts.itWorks;
  return conversation.error === null ? texts.itIsDone : conversation.error.message;
}
