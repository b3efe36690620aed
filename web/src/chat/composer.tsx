/** Where a person writes to an agent: send, stop, and what to do while it is at work. */

import { type Conversation, type OutgoingMessage, type QueueEntry, textOf } from "@heald/client";
import { useRef, useState, useSyncExternalStore } from "react";
import { useLive } from "../live/hooks";
import type { MessageDraft } from "../live/outbox";
import { IconButton } from "../parts/button";
import { useKeptObject, useKeptText } from "../parts/kept";
import { forCharacter, useKeys } from "../parts/keys";
import { showFailure } from "../parts/toasts";
import { composer as texts } from "../texts/chat";
import { type Content, sessions, type WhenBusy } from "../wire/api";
import { type Attachment, splitData, textUrl } from "./attachments";
import { Box } from "./box";

interface Props {
  session: string;
  conversation: Conversation;
}

export function Composer({ session, conversation }: Props) {
  const [text, setText] = useKeptText(`message:${session}`);
  const [attachments, setAttachments] = useKeptObject<Attachment[]>(`message:${session}`, []);
  const [whenBusy, setWhenBusy] = useState<WhenBusy>("queue");
  const box = useRef<HTMLDivElement>(null);
  const live = useLive();
  const sending = useUnsent(session).length > 0; // also one that was sent before this view was left
  const busy = conversation.exchange !== null;
  const empty = text.trim() === "" && attachments.length === 0;

  useKeys(forCharacter("/", () => box.current?.querySelector("textarea")?.focus()));

  const send = async () => {
    if (empty || live.outbox(session).entries.length > 0) return;
    try {
      await live.send(session, contentOf(text, attachments), busy ? whenBusy : "queue", draftOf(`message:${session}`, text, attachments));
    } catch (error) {
      showFailure(error);
    }
  };
  const stop = () => sessions.cancel(session).catch(showFailure);

  return (
    <div
      className="composer"
      ref={box}
      onKeyDown={(event) => {
        if (event.key === "Escape" && busy) void stop();
      }}
    >
      <Queue session={session} conversation={conversation} />
      <Box
        label={texts.message}
        placeholder={busy ? texts.sayMoreWhileItWorks : texts.writeAMessage}
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void send()}
        submit={
          <>
            {busy && <IconButton icon="stop" look="plain" label={texts.stopEscape} onClick={() => void stop()} />}
            <IconButton icon="send" look="primary" label={texts.sendEnter} disabled={empty || sending} onClick={() => void send()} />
          </>
        }
      >
        {busy && (
          <select
            className="select small"
            aria-label={texts.whileItWorks}
            value={whenBusy}
            onChange={(event) => setWhenBusy(event.target.value as WhenBusy)}
          >
            <option value="queue">{texts.queueAfterThis}</option>
            <option value="steer">{texts.steerAtTheNextTurn}</option>
            <option value="interrupt">{texts.interruptInsteadOfThis}</option>
          </select>
        )}
      </Box>
    </div>
  );
}

/** The requests that wait until the current one is done, and those that could not be sent yet. */
export function Queue({ session, conversation }: Props) {
  const outbox = useLive().outbox(session);
  const unsent = useUnsent(session).filter((entry) => entry.reason !== "");
  if (conversation.queue.size === 0 && unsent.length === 0) return null;
  return (
    <ul className="queue" aria-label={texts.waitingRequests}>
      {unsent.map((entry) => (
        <li key={entry.id} className="row" role="alert">
          <span className="badge bad">{texts.notSent}</span>
          <span className="grow truncate">{texts.sentLater(entry.reason)}</span>
          <IconButton small icon="close" label={texts.doNotSend} disabled={entry.status === "sending"} onClick={() => outbox.remove(entry.id)} />
        </li>
      ))}
      {[...conversation.queue.values()].map((queued) => (
        <li key={queued.request} className="row">
          <span className="badge">{texts.queued}</span>
          <span className="grow truncate">{queued.message === null ? texts.aRequest : (queued.message.said ?? textOf(queued.message))}</span>
          <IconButton
            small
            icon="close"
            label={texts.takeBack}
            onClick={() => void sessions.cancel(session, queued.request).catch(showFailure)}
          />
        </li>
      ))}
    </ul>
  );
}

/** The messages to a session that the server has not accepted yet. */
function useUnsent(session: string): readonly QueueEntry<OutgoingMessage>[] {
  const outbox = useLive().outbox(session);
  return useSyncExternalStore(outbox.subscribe, () => outbox.entries);
}

/** What is taken out of the box when the server has the message, also after a reload. */
export function draftOf(key: string, text: string, attachments: readonly Attachment[]): MessageDraft {
  return { key, text, attachments: attachments.map(({ id }) => ({ id })) };
}

export function contentOf(text: string, attachments: Attachment[]): Content {
  const content: Content = text.trim() === "" ? [] : [{ type: "text", text: text.trim() }];
  for (const attachment of attachments) {
    if (attachment.kind === "html") {
      content.push({ type: "text", text: `${attachment.name}:\n\n${attachment.data}` });
      continue;
    }
    const { mediaType, base64 } = splitData(attachment.kind === "text" ? textUrl(attachment.data) : attachment.data);
    if (attachment.kind === "image") content.push({ type: "image", media_type: mediaType, data: base64 });
    else content.push({ type: "file", media_type: mediaType, data: base64, name: attachment.name });
  }
  return content;
}
