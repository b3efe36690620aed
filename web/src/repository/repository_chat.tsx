/** The conversation about a repository. Its first request begins a change: a branch of its own. */

import type { LiveStore } from "@heald/client";
import { useState } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { contentOf, Queue } from "../chat/composer";
import { Thread } from "../chat/thread";
import { unsentAttachments, unsentText } from "../chat/unsent";
import { useFollowed, useLive } from "../live/hooks";
import { IconButton } from "../parts/button";
import { firstWords } from "../parts/format";
import { readText, useKeptObject, useKeptText } from "../parts/kept";
import { showFailure } from "../parts/toasts";
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
      const isSent = await sendTo(live, name, session, onSession, text, attachments);
      if (!isSent) return; // taken back: it is still in the box
      setText((current) => unsentText(current, text));
      setAttachments((current) => unsentAttachments(current, attachments));
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
          <p>Say what to change. The change gets a branch of its own, and the preview shows it while it is made.</p>
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
          label="Message"
          placeholder={busy ? "Say more while it works…" : "What should change?"}
          text={text}
          onText={setText}
          attachments={attachments}
          onAttachments={setAttachments}
          onSubmit={() => void send()}
          submit={
            <>
              {busy && <IconButton icon="stop" look="plain" label="Stop (Escape)" onClick={stop} />}
              <IconButton icon="send" look="primary" label="Send (Enter)" disabled={empty || sending} onClick={() => void send()} />
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
export async function sendTo(live: LiveStore, name: string, session: string, onSession: (session: string) => void, text: string, attachments: Attachment[]): Promise<boolean> {
  const isThere = session !== "" && (await sessions.one(session).then(() => true, () => false));
  const id = isThere ? session : await create(name, firstWords(text));
  if (!isThere) onSession(id);
  return live.send(id, contentOf(text, attachments));
}

/** A session that works in the folder, with every tool and the model that was chosen. */
async function create(name: string, title: string): Promise<string> {
  const offer = await models();
  const model = chosenModel(offer, readText(MODEL_KEY));
  if (model === "") throw new ApiError(0, "invalid", "No model is available: set a provider's key on the server.");
  return (await sessions.create({ workspace: name, title, model, tools: [...new Set([...offer.session.tools, "all"])] })).id;
}
