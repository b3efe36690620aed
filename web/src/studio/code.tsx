/** The files of a variant: a tree, an editor that saves a new version, and the difference to any other version. */

import "../style/code.css";
import { useMemo, useState } from "react";
import { Editor } from "../editor/editor";
import { Merge } from "../editor/merge";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { copyWithToast } from "../parts/clipboard";
import { useKeptValue } from "../parts/kept";
import { useKeys, withControl } from "../parts/keys";
import { showFailure } from "../parts/toasts";
import { Tree } from "../parts/tree";
import { useFetched } from "../shell/fetched";
import { code as texts } from "../texts/project";
import { type Base, isRunning, projects, type ProjectView, type VariantView } from "../wire/api";
import { download, textAt } from "../wire/rest";
import { FileLock } from "./locks";

interface Props {
  project: ProjectView;
  base: Base;
  variant: VariantView;
  /** The file that is shown first; null for the page. */
  file: string | null;
  away: boolean;
  /** Called when something other than a file was changed, such as a lock. */
  onChanged(): void;
  onSave(files: Record<string, string>): Promise<void>;
}

type Edits = Record<string, string>;
const NONE: Edits = {};

export function Code({ project, base, variant, file, away, onChanged, onSave }: Props) {
  const running = isRunning(variant);
  const followed = useFollowed(running ? variant.session : null);
  const place = `${base.version}.${base.variant}`;
  const listed = useFetched(running ? null : `files of ${project.id} ${variant.session}`, () => projects.files(project.id, base));
  const [chosen, setChosen] = useState<string | null>(file);
  const [edits, setEdits] = useKeptValue<Edits>(`edits:${project.id}:${place}`, NONE);
  const [against, setAgainst] = useState("");
  const drafts = followed?.conversation.transcript.drafts.files;
  const names = running ? [...(drafts?.keys() ?? [])].join("\n") : (listed.value?.files.map((file) => file.path).join("\n") ?? "");
  const paths = useMemo(() => names.split("\n").filter(Boolean), [names]);
  const picked = chosen !== null && paths.includes(chosen) ? chosen : null;
  const path = picked ?? (paths.includes(variant.entry ?? "") ? variant.entry : null) ?? paths.find((file) => file.endsWith("index.html")) ?? paths[0] ?? null;
  const stored = useFetched(running || path === null ? null : `file of ${project.id} ${variant.session} ${path}`, () => textAt(projects.file(project.id, base, path ?? "")));
  const text = running ? (drafts?.get(path ?? "")?.text ?? "") : stored.value;
  // The text of the file stays while the next state of it is loaded: an empty moment would be seen as a flash.
  const [last, setLast] = useState<{ path: string | null; text: string }>({ path: null, text: "" });
  if (text !== null && (last.path !== path || last.text !== text)) setLast({ path, text });
  const content = edits[path ?? ""] ?? text ?? (last.path === path && path !== null ? last.text : null);
  const count = Object.keys(edits).length;
  const save = () => {
    if (count === 0 || away) return;
    onSave(edits)
      .then(() => setEdits((now) => Object.fromEntries(Object.entries(now).filter(([file, written]) => edits[file] !== written))))
      .catch(showFailure);
  };
  const change = (next: string) => {
    if (path === null) return;
    setEdits(({ [path]: _, ...others }) => (next === text ? others : { ...others, [path]: next }));
  };
  useKeys(withControl("s", save), { typing: true, dialogs: true });
  const copy = () => void copyWithToast(content ?? "");
  return (
    <div className="code-view">
      <div className="code-side">
        <Tree label={texts.files} paths={paths} chosen={path} onChoose={setChosen} note={(file) => (file in edits ? texts.edited : "")} />
        {paths.length === 0 && <p className="empty">{running ? texts.nothingIsWrittenYetFiles : listed.value === null ? "" : texts.thisVariantHasNoFiles}</p>}
      </div>
      <div className="code-main">
        <div className="panel-bar row wrap">
          <span className="mono grow truncate">{path}</span>
          <Versions project={project} place={place} value={against} onChange={setAgainst} />
          {path !== null && (
            <Button small icon="copy" disabled={content === null} onClick={copy}>
              {texts.copy}
            </Button>
          )}
          {path !== null && !running && (
            <Button small icon="download" onClick={() => download(projects.file(project.id, base, path), path.split("/").at(-1))}>
              {texts.download}
            </Button>
          )}
          {path !== null && !running && <FileLock project={project} base={base} away={away} onChanged={onChanged} file={path} />}
          {count > 0 && (
            <Button small onClick={() => setEdits(NONE)}>
              {texts.discard}
            </Button>
          )}
          <Button small look="primary" disabled={count === 0 || away} onClick={save}>
            {texts.saveAsNewVersion}
          </Button>
        </div>
        {against !== "" && path !== null && content !== null ? (
          <Against key={`${against}/${path}`} project={project.id} against={against} path={path} text={content} />
        ) : path !== null && content !== null ? (
          <Editor key={path} path={path} text={content} readOnly={running || text === null} onChange={change} onSave={save} />
        ) : (
          <div className="grow" aria-busy="true" />
        )}
      </div>
    </div>
  );
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
    <select className="select small" aria-label={texts.compareWith} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{texts.edit}</option>
      {others
        .filter((other) => other.place !== place)
        .map((other) => (
          <option key={other.place} value={other.place}>
            {texts.differenceTo(other.name)}
          </option>
        ))}
    </select>
  );
}

function Against({ project, against, path, text }: { project: string; against: string; path: string; text: string }) {
  const cut = against.lastIndexOf(".");
  const base: Base = { version: against.slice(0, cut), variant: Number(against.slice(cut + 1)) };
  const other = useFetched(`compared file of ${project} ${against} ${path}`, () => textAt(projects.file(project, base, path)).catch(() => ""));
  if (other.loading) return <div className="empty">{texts.loading}</div>;
  return <Merge path={path} before={other.value ?? ""} after={text} />;
}
