/** A project: its preview, and beside it the variants, the conversation and the box to change it with. */

import type { ElementChangeBody } from "@heald/client";
import { Suspense, useCallback, useEffect, useRef, useState } from "react";
import { useConnection, useFollowed, useLive } from "../live/hooks";
import { Boundary } from "../parts/boundary";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { useKeptValue } from "../parts/kept";
import { useKeys } from "../parts/keys";
import { lazyPart } from "../parts/lazy_part";
import { useNarrow } from "../parts/narrow";
import { Segmented } from "../parts/segmented";
import { showFailure, showToast } from "../parts/toasts";
import { useAway } from "../shell/away";
import { useCommands } from "../shell/commands";
import { useFetched } from "../shell/fetched";
import { go, isProjectShown } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { project as texts } from "../texts/project";
import { type Base, isBuilding, isRunning, presentVariants, projects, type ProjectView, studio, type VariantView, type VersionView } from "../wire/api";
import { download } from "../wire/rest";
import { ChangeBox } from "./change_box";
import { Compare } from "./compare";
import { repairText } from "./console";
import { type ElementEdit, ElementPanel } from "./element_panel";
import type { LiveEdit } from "./frame";
import { History } from "./history";
import { inheritedModels } from "./inherited_models";
import { ElementLocks, LockList } from "./locks";
import { labelOf } from "./model_choice";
import type { PageEdit } from "./pages";
import { ProjectHead } from "./project_head";
import { rememberQueued, useQueuedVersions } from "./queued_here";
import { beginsWithPage } from "./source";
import { type Device, type Selected, Stage, WIDTHS } from "./stage";
import { StopVariant } from "./stop_variant";
import { Talk } from "./talk";
import { VariantCard } from "./variant_card";
import { UNCHANGED, useElementDraft, withSides } from "./visual/element_draft";
import { movedSelection, pathsOf, type Selection } from "./visual/picked_element";
import type { Moved } from "./visual/visual_message";

const Code = lazyPart("code", () => import("./code").then((module) => module.Code));
const Beside = lazyPart("beside", () => import("./beside/beside").then((module) => module.Beside));
const CausePanel = lazyPart("cause", () => import("./cause/cause_panel").then((module) => module.CausePanel));
const DesignPanel = lazyPart("design", () => import("./design/design_panel").then((module) => module.DesignPanel));
const Inspector = lazyPart("inspector", () => import("../events/inspector").then((module) => module.Inspector));

type Tab = "chat" | "preview" | "beside" | "code" | "compare" | "design" | "history" | "events";

export function ProjectPage({ id, version: requested, tab, file }: { id: string; version: string | null; tab: string; file: string | null }) {
  const fetched = useFetched(`project ${id}`, () => projects.one(id), { isVolatile: true });
  const deleted = useChanges(id, fetched.value, fetched.set, fetched.reload);
  const [lastVersion, setLastVersion] = useState<string | null>(null);
  const project = fetched.value;
  useTabTitle(project?.title || texts.project);
  if (deleted || (project === null && fetched.error !== null)) {
    return (
      <div className="empty grow" role="alert">
        <Icon name="alert" size={20} />
        <p>{deleted ? texts.thisProjectWasDeleted : fetched.error?.message}</p>
        <Button onClick={() => go()}>{texts.start}</Button>
      </div>
    );
  }
  const versions = project?.versions ?? [];
  const find = (name: string | null) => versions.find((version) => version.id === name);
  // A version that somebody else adds does not replace the one that is being looked at.
  const version = find(requested) ?? find(lastVersion) ?? find(project?.current ?? "") ?? versions.at(-1);
  if (project === null || version === undefined) return <div className="empty grow">{texts.loading}</div>;
  if (version.id !== lastVersion) setLastVersion(version.id);
  const addVersion = (added: VersionView) => {
    fetched.change((now) => withVersion(now, added)); // it is there at once: what waits for it must not overtake it
    fetched.reload();
  };
  return <Open project={project} version={version} tab={asTab(tab)} file={file} onAdded={addVersion} onProject={fetched.set} onChanged={fetched.reload} />;
}

interface OpenProps {
  project: ProjectView;
  version: VersionView;
  tab: Tab;
  /** The file that the code shows first. */
  file: string | null;
  onAdded(version: VersionView): void;
  onProject(project: ProjectView): void;
  onChanged(): void;
}

function Open({ project, version, tab, file, onAdded, onProject, onChanged }: OpenProps) {
  const offer = useFetched("studio", studio);
  const away = useAway();
  const [indexes, setIndexes] = useState<ReadonlyMap<string, number>>(new Map());
  const [selecting, setSelecting] = useState(false);
  const [selected, setSelected] = useState<Selected | null>(null);
  const [isCauseShown, setIsCauseShown] = useState(false);
  const [bar, setBar] = useState<HTMLElement | null>(null);
  const narrow = useNarrow();
  const versions = project.versions ?? [];
  const present = presentVariants(version);
  const index = indexes.get(version.id) ?? version.chosen;
  const variant = [index, version.chosen].map((wished) => present.find((candidate) => candidate.index === wished)).find(Boolean) ?? present[0];
  const choose = useCallback(
    (next: number) => {
      setIndexes((now) => new Map(now).set(version.id, next));
      setSelected(null);
      projects.act(project.id, { version: version.id, variant: next }, "choose").catch(() => undefined);
    },
    [project.id, version.id],
  );
  const showVariant = (value: string) => {
    if (value === "beside") show("beside");
    else {
      choose(Number(value));
      if (tab === "beside") show("preview");
    }
  };
  const applied = useRef(""); // the version that a change of the selected element made
  useEffect(() => {
    if (applied.current === version.id) return;
    setSelected(null);
    setSelecting(false);
  }, [version.id]);
  useNumbers(present, choose);
  const show = useCallback(
    (next: Tab, to = version.id) => {
      if (isProjectShown(project.id)) go("project", project.id, next, to); // who left while a change was made is not called back
    },
    [project.id, version.id],
  );
  const [selection, setSelection] = useState<Selection | null>(null);
  const paths = selected === null ? [] : pathsOf(selection);
  const [draft, changeDraft] = useElementDraft(paths.join("\n"));
  const [device] = useKeptValue<Device>("device", narrow ? "mobile" : "desktop");
  const [page, setPage] = useState("");
  const [liveEdit, setLiveEdit] = useState<LiveEdit | null>(null);
  const [focusCount, setFocusCount] = useState(0);
  const deselect = useCallback(() => setSelected(null), []);
  const pointed = useCallback(
    (said: Selected, picks: Selection) => {
      // What a script made says itself where it stands in the source; everything else is in the page that is shown.
      setSelected(page === "" || said.html.includes("data-heald-source") ? said : { ...said, file: page });
      setSelection(picks);
      if (picks.keyed) setFocusCount((now) => now + 1);
    },
    [page],
  );
  const base: Base = { version: version.id, variant: variant?.index ?? 0 };
  const [remembered, setRemembered] = useKeptValue<string[]>(`change-models:${project.id}`, []);
  const chosenModels = remembered.filter((name) => offer.value?.models.some((model) => model.name === name) ?? false);
  const inherited = inheritedModels(versions, base, offer.value);
  const changeModels = chosenModels.length > 0 ? chosenModels : inherited.models;
  const changes = beginsWithPage(versions, version);
  const add = async (body: Parameters<typeof projects.addVersion>[1], next?: Tab, then?: (added: VersionView) => void) => {
    const added = await projects.addVersion(project.id, body);
    then?.(added);
    onAdded(added);
    show(next ?? (tab === "chat" ? "chat" : "preview"), added.id);
    return added.id;
  };
  const changePages = async (edit: PageEdit) => {
    try {
      if (edit.action === "add" && edit.text !== "") await add({ kind: "update", base, prompt: { text: newPageText(edit.name, edit.text) }, variants: 1, models: changeModels.slice(0, 1) });
      else {
        const body = { kind: "page", base, action: edit.action, path: edit.path, name: "name" in edit ? edit.name : "" } as const;
        await add(body, undefined, (added) => setPage(newPage(variant?.pages ?? [], added.variants[0]?.pages ?? [])));
      }
    } catch (error) {
      showFailure(error);
      throw error;
    }
  };
  const changeElements = async (changes: ElementChangeBody[], below = 0): Promise<boolean> => {
    try {
      await add({ kind: "elements", base, changes, page, width: WIDTHS[device], below }, undefined, (added) => {
        applied.current = added.id;
      });
      return true;
    } catch (error) {
      showFailure(error);
      return false;
    }
  };
  const applyEdit = ({ style, below, ...single }: ElementEdit): Promise<boolean> => {
    if (selection === null) return Promise.resolve(false);
    const others = selection.others.map((picked) => ({ element: picked.place, style, rules: picked.rules }));
    return changeElements([{ element: selection.primary.place, style, rules: selection.primary.rules, ...single }, ...others], below);
  };
  const moveElements = async ({ moves, target, place }: Moved): Promise<boolean> => {
    if (away || draft !== UNCHANGED) {
      showToast(away ? texts.theServerCannotBeReached : texts.applyFirst);
      return false;
    }
    const areMoved = await changeElements(moves.map(({ element }) => ({ element, move: { target, place } })));
    if (areMoved) setSelection((now) => (now === null ? null : movedSelection(now, moves)));
    return areMoved;
  };
  const travel = (step: "undo" | "redo") => {
    const action = project[step];
    if (action === null) return;
    projects[step](project.id, action.id)
      .then((changed) => {
        onProject(changed);
        if (action.version !== "" && action.version !== version.id) show(tab, action.version);
        showToast(step === "undo" ? texts.undone(action.text) : texts.redone(action.text));
      })
      .catch((error: unknown) => {
        showFailure(error);
        onChanged();
      });
  };
  useQueuedVersions(versions, version.id, (made) => show(tab === "chat" ? "chat" : "preview", made));
  const restore = (to: Base) => void add({ kind: "restore", base: to }).catch(showFailure);
  const retry = () => void projects.act(project.id, base, "retry").then(onChanged).catch(showFailure);
  const failed = present.filter((candidate) => candidate.status === "failed");
  const retryFailed = () => void projects.retryFailed(project.id, version.id).then(onChanged).catch(showFailure);
  const at = versions.indexOf(version);
  const step = (by: number) => {
    const to = versions[at + by];
    if (to !== undefined) show(tab, to.id);
  };
  useCommands([
    { name: texts.showDesignSystem, icon: "drop", run: () => show("design") },
    { name: texts.showVariantsSideBySide, icon: "split", disabled: present.length < 2, run: () => show("beside") },
    ...TABS.map((tab) => ({ name: texts.show(tab.label.toLowerCase()), icon: tab.icon, run: () => show(tab.value) })),
    { name: texts.earlierVersion, icon: "left", key: "[", disabled: at <= 0, run: () => step(-1) },
    { name: texts.laterVersion, icon: "right", key: "]", disabled: at >= versions.length - 1, run: () => step(1) },
    { name: project.undo === null ? texts.undo : texts.undoText(project.undo.text), icon: "undo", key: "u", disabled: project.undo === null || away, run: () => travel("undo") },
    { name: project.redo === null ? texts.redo : texts.redoText(project.redo.text), icon: "redo", key: "U", disabled: project.redo === null || away, run: () => travel("redo") },
    { name: texts.retryAllFailed, icon: "reload", disabled: failed.length === 0 || away, run: retryFailed },
    { name: texts.downloadAllFiles, icon: "download", run: () => download(projects.exportPath(project.id, base, "zip")) },
    { name: texts.downloadOnePage, icon: "file", run: () => download(projects.exportPath(project.id, base, "html", page)) },
  ]);
  if (variant === undefined) return <div className="empty grow">{texts.allVariantsOfThisVersion}</div>;
  const models = offer.value?.models ?? [];
  const canRetry = !away && (version.kind === "create" || version.kind === "update");
  return (
    <div className={`project ${tab === "chat" ? "chatting" : ""}`}>
      <ProjectHead
        project={project}
        version={version}
        base={base}
        page={page}
        away={away}
        onStep={step}
        onVersion={(to) => show(tab, to)}
        onUndo={() => travel("undo")}
        onRedo={() => travel("redo")}
        onDesign={() => show(tab === "design" ? "preview" : "design")}
        onChanged={onChanged}
      />
      <div className={`variants count-${Math.min(present.length, 3)}`} role="group" aria-label={texts.variants}>
        {present.map((candidate) => (
          <Boundary key={candidate.index} level="item" resetKey={candidate}>
            <VariantCard
              project={project.id}
              version={version}
              variant={candidate}
              changes={changes}
              label={candidate.model === "" ? "" : labelOf(models, candidate.model)}
              chosen={candidate === variant}
              removable={present.length > 1}
              away={away}
              onChoose={choose}
              onActed={onChanged}
            />
          </Boundary>
        ))}
        {present.length > 1 && (
          <Button small icon="split" className="show-beside" aria-pressed={tab === "beside"} onClick={() => show(tab === "beside" ? "preview" : "beside")}>
            {texts.sideBySide}
          </Button>
        )}
        {failed.length > 1 && (
          <Button small icon="reload" className="retry-failed" disabled={away} onClick={retryFailed}>
            {texts.retryAllFailed}
          </Button>
        )}
      </div>
      <aside className="project-talk" aria-label={texts.conversation}>
        <Talk key={variant.session} project={project} version={version} variant={variant} onOpen={(point) => show(tab, point.id)} />
      </aside>
      <div className="project-change">
        <LockList project={project} base={base} away={away} onChanged={onChanged} />
        <ChangeBox
          project={project.id}
          version={version.id}
          session={variant.session}
          selected={selected}
          focus={focusCount}
          onClear={deselect}
          busy={isRunning(variant)}
          away={away}
          simple={offer.value !== null && !offer.value.has_keys}
          usual={inherited.variants}
          models={models}
          inherited={inherited.models}
          chosenModels={chosenModels}
          onModels={setRemembered}
          usage={variant.usage}
          waiting={project.queue ?? []}
          onQueue={async ([prompt, variants, names]) => {
            const change = await projects.queueChange(project.id, { kind: "update", base, prompt, variants, models: [...names] });
            rememberQueued(change.id);
            onChanged();
          }}
          onSend={(prompt, variants, names) => add({ kind: "update", base, prompt, variants, models: [...names] })}
        />
      </div>
      <div className="project-main">
        <div className="main-bar row">
          <Segmented
            tabs
            label={texts.partsOfTheProject}
            value={tab === "chat" && !narrow ? "preview" : tab}
            onChange={(next) => show(next)}
            choices={[...(narrow ? [CHAT] : []), ...TABS, ...(tab === "beside" ? [BESIDE] : []), ...(tab === "design" ? [DESIGN] : [])]}
          />
          {present.length > 1 && (
            <select className={`select small only-small ${tab === "beside" ? "" : "number"}`} aria-label={texts.variant} value={tab === "beside" ? "beside" : variant.index} onChange={(event) => showVariant(event.target.value)}>
              {present.map((variant) => (
                <option key={variant.index} value={variant.index}>
                  {variant.index + 1}
                </option>
              ))}
              <option value="beside">{texts.sideBySide}</option>
            </select>
          )}
          <StopVariant project={project.id} base={base} variant={variant} away={away} onActed={onChanged} />
          <div className="bar-slot row grow" ref={setBar} />
        </div>
        <section className="main-view" aria-label={texts.variantIndex(variant.index + 1, tab)}>
          <Boundary level="panel" resetKey={`${tab} ${version.id} ${variant.index}`}>
            <Suspense fallback={<div className="empty grow">{texts.loading}</div>}>
              {(tab === "preview" || tab === "chat") && (
                <Stage
                  version={version.id}
                  variant={variant}
                  changes={changes}
                  bar={bar}
                  selecting={selecting}
                  onSelecting={setSelecting}
                  onSelected={pointed}
                  selection={paths}
                  onHandled={(style) => changeDraft((now) => (selection === null ? now : withSides(now, selection.primary.element, style)))}
                  onTyped={(text) => changeDraft((now) => ({ ...now, text }))}
                  onMoved={moveElements}
                  onLost={deselect}
                  edit={liveEdit}
                  onRetry={canRetry ? retry : null}
                  page={page}
                  onPage={setPage}
                  onPages={away || isRunning(variant) || offer.value === null ? null : (edit) => changePages(edit)}
                  words={offer.value?.has_keys ?? false}
                  onFix={
                    away || isRunning(variant)
                      ? null
                      : (errors) => {
                          showToast(texts.errorsSent);
                          add({ kind: "update", base, prompt: { text: repairText(errors) }, variants: 1, models: changeModels.slice(0, 1) }).catch(showFailure);
                        }
                  }
                >
                  {selected !== null && isCauseShown && !away && !isRunning(variant) && (
                    <Suspense fallback={null}>
                      <CausePanel
                        project={project.id}
                        base={base}
                        path={selected.path ?? ""}
                        page={page}
                        models={models}
                        selecting={selecting}
                        onSelecting={setSelecting}
                        onBack={() => setIsCauseShown(false)}
                        onClose={deselect}
                      />
                    </Suspense>
                  )}
                  {selected !== null && selection !== null && !isCauseShown && !away && !isRunning(variant) && (
                    <ElementPanel
                      key={paths.join("\n")}
                      selection={selection}
                      draft={draft}
                      onDraft={changeDraft}
                      device={device}
                      onPreview={setLiveEdit}
                      onClose={deselect}
                      onApply={applyEdit}
                    >
                      <Button small icon="history" onClick={() => setIsCauseShown(true)}>
                        {texts.whereItComesFrom}
                      </Button>
                      <ElementLocks
                        project={project}
                        base={base}
                        away={away}
                        onChanged={onChanged}
                        path={selected.path ?? ""}
                        page={page}
                        hasText={selection.primary.element.text !== null && selection.primary.element.text.trim() !== ""}
                      />
                    </ElementPanel>
                  )}
                </Stage>
              )}
              {tab === "code" && (
                <Code
                  project={project}
                  base={base}
                  variant={variant}
                  file={file}
                  away={away}
                  onChanged={onChanged}
                  onSave={async (files) => void (await add({ kind: "edit", base, files }, "code"))}
                />
              )}
              {tab === "beside" && (
                <Beside
                  project={project.id}
                  version={version.id}
                  variants={present}
                  models={models}
                  away={away}
                  onMade={(made) => {
                    onAdded(made);
                    show("preview", made.id);
                  }}
                  onAsk={
                    offer.value?.has_keys === true
                      ? (target, prompt) => void add({ kind: "update", base: { version: version.id, variant: target }, prompt, variants: 1, models: changeModels.slice(0, 1) }, "preview").catch(showFailure)
                      : null
                  }
                />
              )}
              {tab === "compare" && <Compare project={project} base={base} variant={variant} />}
              {tab === "design" && <DesignPanel project={project} base={base} variant={variant} page={page} away={away} onChanged={onChanged} />}
              {tab === "history" && (
                <History
                  project={project}
                  current={version.id}
                  away={away}
                  onOpen={(entry) => show("preview", entry.id)}
                  onRestore={(entry) => restore({ version: entry.id, variant: entry.chosen })}
                />
              )}
              {tab === "events" && <VariantEvents variant={variant} />}
            </Suspense>
          </Boundary>
        </section>
      </div>
    </div>
  );
}

function withVersion(project: ProjectView, added: VersionView): ProjectView {
  const versions = project.versions ?? [];
  return versions.some((version) => version.id === added.id) ? project : { ...project, versions: [...versions, added] };
}

/** The page that was added or renamed; empty if there is none. */
function newPage(before: VariantView["pages"], after: VariantView["pages"]): string {
  return after.find((page) => !before.some((earlier) => earlier.path === page.path))?.path ?? "";
}

/** The request for a page that a model writes. */
function newPageText(name: string, text: string): string {
  return `Add a page “${name}” to the site, in the style of the others, and link to it from the navigation of every page. It shows:\n\n${text}`;
}

const DESIGN = { value: "design", label: texts.design, icon: "drop" } as const;
const BESIDE = { value: "beside", label: texts.sideBySide, icon: "split" } as const;
const CHAT = { value: "chat", label: texts.chat, icon: "chat" } as const;
const TABS = [
  { value: "preview", label: texts.preview, icon: "desktop" },
  { value: "code", label: texts.code, icon: "code" },
  { value: "compare", label: texts.compare, icon: "compare" },
  { value: "history", label: texts.history, icon: "history" },
  { value: "events", label: texts.events, icon: "pulse" },
] as const;

function VariantEvents({ variant }: { variant: VariantView }) {
  const followed = useFollowed(variant.session);
  if (followed === null) return null;
  return <Inspector session={variant.session} conversation={followed.conversation} />;
}

/** A number chooses a variant: alone, or with Alt while something is being written. */
function useNumbers(variants: readonly VariantView[], choose: (index: number) => void): void {
  const numbered = variants.filter(({ index }) => index < 9).map(({ index }) => [`Digit${index + 1}`, () => choose(index)] as const);
  useKeys(Object.fromEntries(numbered));
  useKeys(Object.fromEntries(numbered.map(([name, handler]) => [`Alt+${name}`, handler])), { typing: true, dialogs: true });
}

/**
 * The server says when a project changes; while something runs, and after a pause, the page also looks for itself.
 * Returns whether somebody deleted it.
 */
function useChanges(id: string, project: ProjectView | null, set: (project: ProjectView) => void, reload: () => void): boolean {
  const { socket } = useLive();
  const connection = useConnection();
  const [deleted, setDeleted] = useState("");
  const running = project !== null && isBuilding(project) && deleted !== id;
  useEffect(() => {
    socket.onProject = (changed) => {
      if (changed.id === id) set(changed);
    };
    socket.onProjectDeleted = setDeleted;
    socket.followProject(id);
    return () => socket.unfollowProject(id);
  }, [socket, id, set]);
  const was = useRef(connection);
  useEffect(() => {
    if (connection === "open" && was.current !== "open") reload();
    was.current = connection;
  }, [connection, reload]);
  useEffect(() => {
    if (!running) return undefined;
    const timer = window.setInterval(reload, 2000);
    return () => window.clearInterval(timer);
  }, [running, reload]);
  return deleted === id;
}

function asTab(tab: string): Tab {
  return tab === "chat" || tab === "beside" || tab === "code" || tab === "compare" || tab === "design" || tab === "history" || tab === "events" ? tab : "preview";
}
