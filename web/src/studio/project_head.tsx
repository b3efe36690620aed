/** The name of a project, its versions, and what can be done with all of it. */

import { use, useState } from "react";
import { IconButton } from "../parts/button";
import { Menu } from "../parts/menu";
import { showFailure } from "../parts/toasts";
import { MenuContext } from "../shell/menu_context";
import { Rename } from "../shell/rename";
import { projectHead as pageTexts } from "../texts/project";
import { type Base, projects, type ProjectView, type VersionView } from "../wire/api";
import { download, textAt } from "../wire/rest";
import { blitzFields, CODEPEN, penFields, postForm, STACKBLITZ } from "./playgrounds";
import { PushDialog, ShareDialog } from "./share";

interface Props {
  project: ProjectView;
  version: VersionView;
  base: Base;
  /** The page that is shown; empty for the first one. */
  page: string;
  away: boolean;
  onStep(by: number): void;
  onVersion(version: string): void;
  onUndo(): void;
  onRedo(): void;
  onDesign(): void;
  onChanged(): void;
}

export function ProjectHead({ project, version, base, page, away, onStep, onVersion, onUndo, onRedo, onDesign, onChanged }: Props) {
  const [renaming, setRenaming] = useState(false);
  const [sharing, setSharing] = useState(false);
  const [pushing, setPushing] = useState(false);
  const openMenu = use(MenuContext);
  const versions = project.versions ?? [];
  const at = versions.indexOf(version);
  const newest = at === versions.length - 1;
  const current = versions.find((entry) => entry.id === project.current) ?? versions.at(-1) ?? version;
  const { undo, redo } = project;
  return (
    <header className="project-head">
      <div className="row">
        <IconButton small icon="menu" label={pageTexts.menu} className="only-small" onClick={openMenu} />
        <h1 className="truncate grow" title={project.title}>
          {project.title || pageTexts.untitled}
        </h1>
        <Menu
          icon="download"
          label={pageTexts.download}
          actions={[
            { label: pageTexts.allFilesZip, icon: "download", run: () => download(projects.exportPath(project.id, base, "zip")) },
            { label: page === "" ? pageTexts.onePageHtml : pageTexts.onePage(page), icon: "file", run: () => download(projects.exportPath(project.id, base, "html", page)) },
            { label: pageTexts.pushToGit, icon: "branch", run: () => setPushing(true) },
            { label: pageTexts.openInCodepen, icon: "open", run: () => void openPen(project, base).catch(showFailure) },
            { label: pageTexts.openInStackblitz, icon: "open", run: () => void openBlitz(project, base).catch(showFailure) },
          ]}
        />
        <IconButton small icon="drop" label={pageTexts.designSystem} onClick={onDesign} />
        <IconButton small icon="share" label={pageTexts.share} disabled={away} onClick={() => setSharing(true)} />
        <IconButton small icon="edit" label={pageTexts.rename} className="hide-small" disabled={away} onClick={() => setRenaming(true)} />
      </div>
      <div className="row version-row">
        <IconButton small icon="left" label={pageTexts.earlierVersion} className="hide-small" disabled={at <= 0} onClick={() => onStep(-1)} />
        <select className="select small" aria-label={pageTexts.version} value={version.id} onChange={(event) => onVersion(event.target.value)}>
          {versions.map((entry) => (
            <option key={entry.id} value={entry.id}>
              {pageTexts.versionNumber(entry.number)}
            </option>
          ))}
        </select>
        <IconButton small icon="right" label={pageTexts.laterVersion} className="hide-small" disabled={newest} onClick={() => onStep(1)} />
        <IconButton small icon="undo" label={undo === null ? pageTexts.nothingToUndo : pageTexts.undoU(undo.text)} disabled={undo === null || away} onClick={onUndo} />
        <IconButton small icon="redo" label={redo === null ? pageTexts.nothingToRedo : pageTexts.redoShiftU(redo.text)} disabled={redo === null || away} onClick={onRedo} />
        <span className="grow" />
        {version.id === current.id ? (
          versions.length > 1 && <span className="badge accent">{newest ? pageTexts.latest : pageTexts.current}</span>
        ) : (
          <button type="button" className="badge warn link-badge" onClick={() => onVersion(current.id)}>
            {pageTexts.versionIs(current.number, current.number > version.number)}
          </button>
        )}
      </div>
      {pushing && <PushDialog project={project.id} base={base} onClose={() => setPushing(false)} />}
      {sharing && <ShareDialog project={project.id} onClose={() => setSharing(false)} />}
      {renaming && (
        <Rename
          title={project.title}
          onRename={(title) => void projects.rename(project.id, title).then(onChanged).catch(showFailure)}
          onClose={() => setRenaming(false)}
        />
      )}
    </header>
  );
}

async function openPen(project: ProjectView, base: Base): Promise<void> {
  const html = await textAt(projects.exportPath(project.id, base, "html"));
  postForm(CODEPEN, penFields(project.title, html ?? ""));
}

async function openBlitz(project: ProjectView, base: Base): Promise<void> {
  const { files } = await projects.files(project.id, base);
  const texts = new Map<string, string>();
  for (const file of files) {
    const text = file.text ? await textAt(projects.file(project.id, base, file.path)) : null;
    if (text !== null) texts.set(file.path, text);
  }
  postForm(STACKBLITZ, blitzFields(project.title, texts));
}
