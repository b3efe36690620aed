/** The changes that wait on the server: they are made one after the other, whether or not the page is open. */

import { type Attachment, splitData } from "../chat/attachments";
import { IconButton } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { serverQueue as texts } from "../texts/project";
import { type Prompt, projects, type QueuedChangeView } from "../wire/api";

interface Props {
  project: string;
  waiting: readonly QueuedChangeView[];
  away: boolean;
  /** Puts the words and files of a change that was taken out into the box. */
  onEdit(text: string, attachments: Attachment[]): void;
}

const LABELS: Record<QueuedChangeView["status"], string> = { waiting: texts.next, sending: texts.sending, failed: texts.notSent };

export function ServerQueue({ project, waiting, away, onEdit }: Props) {
  const edit = async (change: QueuedChangeView) => {
    const { prompt } = await projects.queuedChange(project, change.id);
    await projects.removeQueued(project, change.id);
    onEdit(prompt.text ?? "", attachmentsOf(change.id, prompt));
  };
  return waiting.map((change) => (
    <li key={change.id}>
      <div className="row">
        <span className={`badge ${change.status === "failed" ? "bad" : ""}`}>{LABELS[change.status]}</span>
        <span className="grow truncate" title={change.text}>
          {change.text || texts.aPicture}
        </span>
        {change.status === "failed" && (
          <IconButton small icon="reload" label={texts.sendThisChangeAgain} disabled={away} onClick={() => void projects.sendQueued(project, change.id).catch(showFailure)} />
        )}
        {change.status !== "sending" && (
          <>
            <IconButton small icon="edit" label={texts.editThisChange} disabled={away} onClick={() => void edit(change).catch(showFailure)} />
            <IconButton small icon="close" label={texts.removeThisChange} disabled={away} onClick={() => void projects.removeQueued(project, change.id).catch(showFailure)} />
          </>
        )}
      </div>
      {change.status === "failed" && (
        <p className="queue-reason" role="alert">
          {change.reason}
        </p>
      )}
    </li>
  ));
}

/** The files of a request as they were attached. */
function attachmentsOf(id: string, prompt: Prompt): Attachment[] {
  const of = (kind: "image" | "video", sources: Prompt["images"] = []) =>
    sources.flatMap(({ data }, at) => (data ? [{ id: `${id}-${kind}-${at}`, kind, name: kind === "image" ? texts.pictureNumber(at + 1) : texts.recordingNumber(at + 1), data }] : []));
  const page: Attachment[] = prompt.html ? [{ id: `${id}-html`, kind: "html", name: "page.html", data: prompt.html }] : [];
  const documents = (prompt.documents ?? []).map(({ name, data }, at): Attachment => {
    const isPdf = data.startsWith("data:application/pdf");
    const bytes = Uint8Array.from(atob(splitData(data).base64), (character) => character.charCodeAt(0));
    return { id: `${id}-document-${at}`, kind: isPdf ? "pdf" : "text", name, data: isPdf ? data : new TextDecoder().decode(bytes) };
  });
  return [...of("image", prompt.images), ...of("video", prompt.videos), ...page, ...documents];
}
