/** The files of a variant: a tree, an editor that saves a new version, and the difference to any other version. */

import { useEffect, useMemo, useState } from "react";
import { Editor } from "../editor/editor";
import { Merge } from "../editor/merge";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { Tree } from "../parts/tree";
import { useFetched } from "../shell/fetched";
import { type Base, projects, type ProjectView, type VariantView } from "../wire/api";
import { download, textAt } from "../wire/rest";

interface Props {
  project: ProjectView;
  base: Base;
  variant: VariantView;
  onSave(files: Record<string, string>): Promise<void>;
}

export function Code({ project, base, variant, onSave }: Props) {
  const running = variant.status === "running" || variant.status === "queued";
  const followed = useFollowed(running ? variant.session : null);
  const place = `${base.version}.${base.variant}`;
  const listed = useFetched(running ? null : place, () => projects.files(project.id, base));
  const [chosen, setChosen] = useState<string | null>(null);
  const [edits, setEdits] = useState<ReadonlyMap<string, string>>(new Map());
  const [against, setAgainst] = useState("");
  const drafts = followed?.conversation.transcript.drafts.files;
  const names = running ? [...(drafts?.keys() ?? [])].join("\n") : (listed.value?.files.map((file) => file.path).join("\n") ?? "");
  const paths = useMemo(() => names.split("\n").filter(Boolean), [names]);
  const path = chosen ?? variant.entry ?? paths.find((each) => each.endsWith("index.html")) ?? paths[0] ?? null;
  const stored = useFetched(running || path === null || !paths.includes(path) ? null : `${place}/${path}`, () =>
    textAt(projects.file(project.id, base, path ?? "")),
  );
  useEffect(() => setEdits(new Map()), [place]);
  const text = running ? (drafts?.get(path ?? "")?.text ?? "") : (stored.value ?? "");
  const shown = edits.get(path ?? "") ?? text;
  const save = () => {
    onSave(Object.fromEntries(edits)).catch(showFailure);
  };
  return (
    <div className="code-view">
      <div className="code-side">
        <Tree label="Files" paths={paths} chosen={path} onChoose={setChosen} note={(each) => (edits.has(each) ? "edited" : "")} />
        {paths.length === 0 && <p className="empty">{running ? "Nothing is written yet." : "No files."}</p>}
      </div>
      <div className="code-main">
        <div className="panel-bar row wrap">
          <span className="mono grow truncate">{path}</span>
          <Versions project={project} place={place} value={against} onChange={setAgainst} />
          {path !== null && !running && (
            <Button small icon="download" onClick={() => download(projects.file(project.id, base, path), path.split("/").at(-1))}>
              Download
            </Button>
          )}
          <Button small look="primary" disabled={edits.size === 0} onClick={save}>
            Save as new version
          </Button>
        </div>
        {stored.value === null && !running && stored.loading ? (
          <div className="empty">Loading…</div>
        ) : against !== "" && path !== null ? (
          <Against key={`${against}/${path}`} project={project.id} against={against} path={path} text={shown} />
        ) : (
          path !== null && (
            <Editor
              key={`${place}/${path}`}
              path={path}
              text={shown}
              readOnly={running}
              onChange={(next) => setEdits((now) => edited(now, path, next, text))}
              onSave={save}
            />
          )
        )}
      </div>
    </div>
  );
}

function edited(edits: ReadonlyMap<string, string>, path: string, next: string, stored: string): ReadonlyMap<string, string> {
  const changed = new Map(edits);
  if (next === stored) changed.delete(path);
  else changed.set(path, next);
  return changed;
}

interface VersionsProps {
  project: ProjectView;
  place: string;
  value: string;
  onChange(value: string): void;
}

function Versions({ project, place, value, onChange }: VersionsProps) {
  const others = (project.versions ?? []).flatMap((version) =>
    version.variants.map((variant) => ({ name: `${version.number}.${variant.index + 1}`, place: `${version.id}.${variant.index}` })),
  );
  return (
    <select className="select small" aria-label="Compare with" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Edit</option>
      {others
        .filter((each) => each.place !== place)
        .map((each) => (
          <option key={each.place} value={each.place}>
            Difference to {each.name}
          </option>
        ))}
    </select>
  );
}

function Against({ project, against, path, text }: { project: string; against: string; path: string; text: string }) {
  const cut = against.lastIndexOf(".");
  const base: Base = { version: against.slice(0, cut), variant: Number(against.slice(cut + 1)) };
  const other = useFetched(`${against}/${path}`, () => textAt(projects.file(project, base, path)).catch(() => ""));
  if (other.loading) return <div className="empty">Loading…</div>;
  return <Merge path={path} before={other.value ?? ""} after={text} />;
}
