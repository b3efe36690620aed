/** The files of a session: what is changed in them and waits to be looked at, what they hold, and how they came to it. */

import type { Conversation, FileChange, LogEvent } from "@heald/client";
import { useMemo, useState } from "react";
import { Button } from "../parts/button";
import { countOf, Diff } from "../parts/diff";
import { plain } from "../parts/format";
import { Segmented } from "../parts/segmented";
import { showToast, showFailure } from "../parts/toasts";
import { Tree } from "../parts/tree";
import { useFetched } from "../shell/fetched";
import { files as texts } from "../texts/files";
import { sessions } from "../wire/api";
import { download, textAt } from "../wire/rest";
import { type Change, changes } from "./judging";
import { Review } from "./review";

const NOTES = { created: texts.created, changed: texts.changed, deleted: texts.deletedNote } as const;
const NONE: readonly Change[] = [];

export function Files({ session, conversation }: { session: string; conversation: Conversation }) {
  const revisions = [...conversation.files.values()].reduce((sum, change) => sum + change.revision, 0);
  const listed = useFetched(`files ${session} ${conversation.files.size}`, () => sessions.files(session));
  const fetched = useFetched(`changes ${session} ${revisions} ${conversation.accepted}`, () => changes.all(session));
  const [unjudged, setUnjudged] = useState(NONE);
  const [chosen, setChosen] = useState<string | null>(null);
  const [view, setView] = useState<"changes" | "content" | "history">("changes");
  if (fetched.value !== null && fetched.value.changes !== unjudged) setUnjudged(fetched.value.changes);
  const names = [...new Set([...(listed.value?.files.map((file) => file.path) ?? []), ...conversation.files.keys()])].join("\n");
  const paths = useMemo(() => names.split("\n").filter(Boolean), [names]);
  const path = chosen ?? unjudged.at(-1)?.path ?? [...conversation.files.keys()].at(-1) ?? paths[0] ?? null;
  if (paths.length === 0) return <div className="empty">{listed.loading ? texts.loading : texts.noFiles}</div>;
  const open = unjudged.find((change) => change.path === path);
  return (
    <div className="files">
      <div className="files-list">
        <Waiting session={session} waiting={unjudged} onJudged={fetched.reload} />
        <Tree
          label={texts.files}
          paths={paths}
          chosen={path}
          onChoose={setChosen}
          note={(file) => {
            const waiting = unjudged.find((change) => change.path === file);
            return waiting === undefined ? "" : NOTES[waiting.kind];
          }}
        />
      </div>
      {path !== null && (
        <div className="file-view">
          <div className="panel-bar row wrap">
            <span className="mono grow truncate">{path}</span>
            <Segmented
              label={texts.whatToShow}
              value={view}
              onChange={setView}
              choices={[
                { value: "changes", label: texts.changes },
                { value: "content", label: texts.content },
                { value: "history", label: texts.history },
              ]}
            />
            <Button small icon="download" onClick={() => download(sessions.file(session, path), path.split("/").at(-1))}>
              {texts.download}
            </Button>
          </div>
          {view === "changes" && open !== undefined && <Review key={path} session={session} change={open} onJudged={fetched.reload} />}
          {view === "changes" && open === undefined && (
            <div className="empty">{conversation.files.has(path) ? texts.nothingIsLeftToLook : texts.notChangedInThisSession}</div>
          )}
          {view === "content" && <Content session={session} path={path} change={conversation.files.get(path)} />}
          {view === "history" && <Revisions changes={changesOf(conversation.events, path)} />}
        </div>
      )}
    </div>
  );
}

function Waiting({ session, waiting, onJudged }: { session: string; waiting: readonly Change[]; onJudged(): void }) {
  const [busy, setBusy] = useState(false);
  if (waiting.length === 0) return null;
  const accept = async () => {
    setBusy(true);
    try {
      for (const change of waiting) await changes.judge(session, change, "accept");
      showToast(texts.allChangesAreAccepted);
    } catch (error) {
      showFailure(error);
    }
    setBusy(false);
    onJudged();
  };
  return (
    <div className="files-waiting row">
      <span className="grow">
        {texts.toLookAt(waiting.length)}
      </span>
      <Button small icon="check" disabled={busy} onClick={() => void accept()}>
        {texts.acceptAll}
      </Button>
    </div>
  );
}

function changesOf(events: readonly LogEvent[], path: string): FileChange[] {
  return events.flatMap((event) => (event.type === "file_changed" && event.data.path === path ? [event.data] : [])).reverse();
}

function Revisions({ changes }: { changes: FileChange[] }) {
  if (changes.length === 0) return <div className="empty">{texts.notChangedInThisSession}</div>;
  return (
    <div className="review stack">
      {changes.map((change) => {
        const { added, removed } = countOf(change.diff ?? "");
        return (
          <figure key={change.revision} className="piece">
            <figcaption className="row">
              <span className="badge">{texts.revision(change.revision)}</span>
              {change.cause === "user" && <span className="badge">{texts.byYou}</span>}
              <span className="changes numeric">
                <span className="added">+{added}</span> <span className="removed">−{removed}</span>
              </span>
            </figcaption>
            {change.diff ? <Diff text={change.diff} label={texts.differenceOfRevision(change.revision)} /> : <p className="faint">{change.hash === null ? texts.deleted : texts.noDifferenceIsRecorded}</p>}
          </figure>
        );
      })}
    </div>
  );
}

function Content({ session, path, change }: { session: string; path: string; change: FileChange | undefined }) {
  const gone = change?.hash === null;
  const text = useFetched(gone ? null : `file ${session} ${change?.revision ?? 0} ${path}`, () => textAt(sessions.file(session, path)));
  if (gone) return <div className="empty">{texts.theFileIsDeleted}</div>;
  if (text.error !== null) return <div className="note error">{text.error.message}</div>;
  if (text.loading) return <div className="empty">{texts.loading}</div>;
  return (
    <pre className="code-box file-content" tabIndex={0}>
      {text.value === null ? texts.thisFileIsNotText : plain(text.value)}
    </pre>
  );
}
