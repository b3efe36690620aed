/** A conversation, from its first word to the indicator that more is to come. */

import type { Conversation, Crossing, Followed, Item, SessionStatus, UserItem } from "@heald/client";
import { useCallback, useEffect, useRef, useState } from "react";
import { Boundary } from "../parts/boundary";
import { Button } from "../parts/button";
import { SessionContext } from "../parts/picture";
import { VirtualList } from "../parts/virtual";
import { thread as texts } from "../texts/chat";
import { statusText } from "../texts/statuses";
import { BranchSteps } from "./branch_steps";
import { Elapsed, Remaining } from "./elapsed";
import { textOfItem } from "./item_text";
import { Ended, Notice, Said, Thought, UserMessage } from "./messages";
import { ServerTool } from "./sources";
import { ToolCard } from "./tool_card";

interface Props {
  session: string;
  followed: Followed;
  onBranch?(item: UserItem, text: string): void;
  onRetry?(item: UserItem): void;
  /** Shows another branch: the conversation as it was at an event. */
  onSwitch?(seq: number): void;
  /** What is shown of a text of the agent; all of it by default. */
  display?(text: string): string;
  /** Which items are shown; all of them by default. */
  show?(item: Item): boolean;
}

export function Thread({ session, followed, onBranch, onRetry, onSwitch, display, show }: Props) {
  const { conversation } = followed;
  const idle = conversation.exchange === null;
  const render = useCallback(
    (item: Item) => (
      <Boundary level="item" resetKey={item}>
        <Shown item={item} session={session} idle={idle} onBranch={onBranch} onRetry={onRetry} display={display} />
        {item.kind === "user" && !item.steered && onSwitch !== undefined && (
          <BranchSteps crossing={conversation.branchesAt(item.before + 1)} idle={idle} onSwitch={onSwitch} />
        )}
      </Boundary>
    ),
    [session, conversation, idle, onBranch, onRetry, onSwitch, display],
  );
  if (!followed.complete && conversation.transcript.items.length === 0) {
    return (
      <div className="empty grow">
        <span className="spinner" role="img" aria-label={texts.loading} />
      </div>
    );
  }
  return (
    <SessionContext value={session}>
      <VirtualList
        label={texts.conversation}
        textOf={textOfItem}
        className="thread"
        items={show === undefined ? conversation.transcript.items : conversation.transcript.items.filter(show)}
        version={conversation.version}
        seq={conversation.seq}
        busy={!followed.complete}
        render={render}
        footer={
          <>
            {onSwitch !== undefined && idle && <Behind crossing={conversation.branchesBehind()} onSwitch={onSwitch} />}
            <Working conversation={conversation} />
          </>
        }
      />
      <Announcer conversation={conversation} />
    </SessionContext>
  );
}

interface ShownProps {
  item: Item;
  session: string;
  idle: boolean;
  onBranch: Props["onBranch"];
  onRetry: Props["onRetry"];
  display: Props["display"];
}

function Shown({ item, session, idle, onBranch, onRetry, display }: ShownProps) {
  switch (item.kind) {
    case "user":
      return <UserMessage item={item} idle={idle} {...(onBranch ? { onBranch } : {})} {...(onRetry ? { onRetry } : {})} />;
    case "text":
      return <Said item={item} display={display} />;
    case "thinking":
      return <Thought item={item} />;
    case "tool":
      return <ToolCard item={item} session={session} />;
    case "server_tool":
      return <ServerTool item={item} />;
    case "notice":
      return <Notice item={item} />;
    case "end":
      return <Ended item={item} />;
  }
}

export const WORDS: Record<SessionStatus, string> = {
  idle: texts.ready,
  thinking: texts.thinking,
  responding: texts.writing,
  working: texts.working,
  waiting: texts.waitingForYou,
};

/** What the agent does. A call of a client is nothing that the reader of the page could decide. */
export function statusWords(conversation: Conversation): string {
  if (conversation.nextAttempt !== null) return texts.waitingForAttempt(conversation.nextAttempt.number);
  const last = conversation.transcript.items.at(-1);
  if (conversation.status === "thinking" && last?.kind === "tool" && last.phase === "writing") return texts.writing;
  const waitsForClient = conversation.clientCalls.size > 0 && conversation.approvals.size + conversation.questions.size === 0;
  return conversation.status === "waiting" && waitsForClient ? texts.waitingForAClient : WORDS[conversation.status];
}

/** What was said here once and is not part of the conversation now. */
function Behind({ crossing, onSwitch }: { crossing: Crossing | null; onSwitch(seq: number): void }) {
  const { previous } = crossing ?? {};
  if (crossing === null || previous === null || previous === undefined) return null;
  return (
    <div className="note info branches-behind">
      <span className="grow">{texts.continuedBefore}</span>
      <Button small icon="branch" onClick={() => onSwitch(previous)}>
        {texts.bringItBack}
      </Button>
    </div>
  );
}

/** There until the exchange is over, and never gone earlier. */
function Working({ conversation }: { conversation: Conversation }) {
  if (conversation.exchange === null) return null;
  return (
    <div className="working" data-testid="working">
      <span className="spinner" aria-hidden="true" />
      <span>{statusWords(conversation)}</span>
      {conversation.nextAttempt !== null && (
        <span className="faint">
          <Remaining until={conversation.nextAttempt.time} />
        </span>
      )}
      {conversation.nextAttempt === null && conversation.began > 0 && (
        <span className="faint">
          <Elapsed since={conversation.began} />
        </span>
      )}
    </div>
  );
}

/** Says what changes, for those who do not see it: states, not every word. */
function Announcer({ conversation }: { conversation: Conversation }) {
  const [words, setWords] = useState("");
  const before = useRef({ status: "", running: false });
  const running = conversation.exchange !== null;
  const status = statusWords(conversation);
  useEffect(() => {
    const last = before.current;
    before.current = { status, running };
    if (last.running && !running) {
      const end = conversation.transcript.items.findLast((item) => item.kind === "end");
      const outcome = end?.response.status;
      setWords(outcome === "completed" ? texts.theAnswerIsComplete : texts.theRequestEnded(outcome === undefined ? texts.unknown : statusText(outcome)));
    } else if (running && status !== last.status) {
      setWords(status === WORDS.waiting ? texts.theAgentWaitsForYou : `${status}.`);
    }
  }, [status, running, conversation]);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {words}
    </div>
  );
}
