/** The conversation about a repository. Its first request begins a change: a branch of its own. */

import type { LiveStore } from "@heald/client";
import { useState } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { contentOf, draftOf, Queue } from "../chat/composer";
import { Thread } from "../chat/thread";
import { useFollowed, useLive } from "../live/hooks";
import type { MessageDraft } from "../live/outbox";
import { IconButton } from "../parts/button";
import { firstWords } from "../parts/format";
import { readText, useKeptObject, useKeptText } from "../parts/kept";
import { showFailure } from "../parts/toasts";
import { repositoryChat as texts } from "../texts/repository";
import { models, sessions } from "../wire/api";
import { ApiError } from "../wire/rest";
import { chosenModel, MODEL_KEY, ModelSelect } from "./model_select";

interface Props {
  name: string;
  session: string;
  onSession(session: string): void;
  /** Begins a change if none is open. */
  prepare(title: string): Promise<void>;
}

export function RepositoryChat({ name, session, onSession, prepare }: Props) {
  const followed = useFollowed(session === "" ? null : session);
  const [text, setText] = useKeptText(`repository-message:${name}`);
  const [attachments, setAttachments] = useKeptObject<Attachment[]>(`repository-message:${name}`, []);
  const [sending, setSending] = useState(false);
  const live = useLive();
  const busy = followed !== null && followed.conversation.exchange !== null;
  const empty = text.trim() === "" && attachments.length === 0;
  const send = async () => {
    if (empty || sending) return;
    setSending(true);
    try {
      await prepare(firstWords(text) || "change");
      await sendTo(live, name, session, onSession, text, attachments, draftOf(`repository-message:${name}`, text, attachments));
    } catch (error) {
      showFailure(error);
    } finally {
      setSending(false);
    }
  };
  const stop = () => void sessions.cancel(session).catch(showFailure);
  return (
    <div className="session-chat">
      {session !== "" && followed !== null && followed.error === null ? (
        <Thread session={session} followed={followed} />
      ) : (
        <div className="empty grow">
          <p>{texts.sayWhatToChange}</p>
        </div>
      )}
      <div
        className="composer"
        onKeyDown={(event) => {
          if (event.key === "Escape" && busy) stop();
        }}
      >
        {followed !== null && <Queue session={session} conversation={followed.conversation} />}
        <Box
          label={texts.message}
          placeholder={busy ? texts.sayMoreWhileItWorks : texts.whatShouldChange}
          text={text}
          onText={setText}
          attachments={attachments}
          onAttachments={setAttachments}
          onSubmit={() => void send()}
          submit={
            <>
              {busy && <IconButton icon="stop" look="plain" label={texts.stopEscape} onClick={stop} />}
              <IconButton icon="send" look="primary" label={texts.sendEnter} disabled={empty || sending} onClick={() => void send()} />
            </>
          }
        >
          <ModelSelect session={session} />
        </Box>
      </div>
    </div>
  );
}

/** Sends a request to the session of the repository, or to a new one if there is none any more. False if a person took it back. */
export async function sendTo(live: LiveStore, name: string, session: string, onSession: (session: string) => void, text: string, attachments: Attachment[], draft?: MessageDraft): Promise<boolean> {
  const isThere = session !== "" && (await sessions.one(session).then(() => true, () => false));
  const id = isThere ? session : await create(name, firstWords(text));
  if (!isThere) onSession(id);
  return live.send(id, contentOf(text, attachments), "queue", draft);
}

/** A session that works in the folder, with every tool and the model that was chosen. */
async function create(name: string, title: string): Promise<string> {
  const offer = await models();
  const model = chosenModel(offer, readText(MODEL_KEY));
  if (model === "") throw new ApiError(0, "invalid", texts.noModelIsAvailableSet);
  return (await sessions.create({ workspace: name, title, model, tools: [...new Set([...offer.session.tools, "all"])] })).id;
}
