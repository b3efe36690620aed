/** The files of a session: what the agent changed, file by file, and what they hold now. */

import { useMemo, useState } from "react";
import type { Conversation } from "../log/conversation";
import type { FileChange, LogEvent } from "../log/event";
import { Button } from "../parts/button";
import { countOf, Diff } from "../parts/diff";
import { plain } from "../parts/format";
import { Segmented } from "../parts/segmented";
import { Tree } from "../parts/tree";
import { useFetched } from "../shell/fetched";
import { sessions } from "../wire/api";
import { download, textAt } from "../wire/rest";

export function Files({ session, conversation }: { session: string; conversation: Conversation }) {
  const changes = conversation.files.size;
  const listed = useFetched(`${session}-${changes}`, () => sessions.files(session));
  const [chosen, setChosen] = useState<string | null>(null);
  const [view, setView] = useState<"changes" | "content">("changes");
  const paths = useMemo(() => {
    const all = new Set([...(listed.value?.files.map((file) => file.path) ?? []), ...conversation.files.keys()]);
    return [...all];
  }, [listed.value, conversation, changes]);
  const path = chosen ?? [...conversation.files.keys()].at(-1) ?? paths[0] ?? null;
  if (paths.length === 0) return <div className="empty">{listed.loading ? "Loading…" : "No files yet."}</div>;
  return (
    <div className="files">
      <Tree
        label="Files"
        paths={paths}
        chosen={path}
        onChoose={setChosen}
        note={(each) => {
          const change = conversation.files.get(each);
          if (change === undefined) return "";
          return change.hash === null ? "deleted" : `r${change.revision}`;
        }}
      />
      {path !== null && (
        <div className="file-view">
          <div className="panel-bar row wrap">
            <span className="mono grow truncate">{path}</span>
            <Segmented
              label="What to show"
              value={view}
              onChange={setView}
              choices={[
                { value: "changes", label: "Changes" },
                { value: "content", label: "Content" },
              ]}
            />
            <Button small icon="download" onClick={() => download(sessions.file(session, path), path.split("/").at(-1))}>
              Download
            </Button>
          </div>
          {view === "changes" ? (
            <Changes changes={changesOf(conversation.events, path)} />
          ) : (
            <Content session={session} path={path} revision={conversation.files.get(path)?.revision ?? 0} />
          )}
        </div>
      )}
    </div>
  );
}

function changesOf(events: readonly LogEvent[], path: string): FileChange[] {
  return events.flatMap((event) => (event.type === "file_changed" && event.data.path === path ? [event.data] : [])).reverse();
}

function Changes({ changes }: { changes: FileChange[] }) {
  if (changes.length === 0) return <div className="empty">Not changed in this session.</div>;
  return (
    <div className="file-changes stack">
      {changes.map((change) => {
        const { added, removed } = countOf(change.diff ?? "");
        return (
          <figure key={change.revision} className="stack">
            <figcaption className="row">
              <span className="badge">Revision {change.revision}</span>
              <span className="changes numeric">
                <span className="added">+{added}</span> <span className="removed">−{removed}</span>
              </span>
            </figcaption>
            {change.diff ? <Diff text={change.diff} /> : <p className="faint">{change.hash === null ? "Deleted." : "No difference is recorded."}</p>}
          </figure>
        );
      })}
    </div>
  );
}

function Content({ session, path, revision }: { session: string; path: string; revision: number }) {
  const text = useFetched(`${session}-${path}-${revision}`, () => textAt(sessions.file(session, path)));
  if (text.error !== null) return <div className="note error">{text.error.message}</div>;
  if (text.loading) return <div className="empty">Loading…</div>;
  return (
    <pre className="code-box file-content" tabIndex={0}>
      {text.value === null ? "This file is not text." : plain(text.value)}
    </pre>
  );
}
