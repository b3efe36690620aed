/** A project: its variants side by side, and everything about the one that is chosen. */

import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { Thread } from "../chat/thread";
import { useFollowed, useLive } from "../live/hooks";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { Segmented } from "../parts/segmented";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { go } from "../shell/route";
import { type Base, type Prompt, projects, type ProjectView, type VariantView, type VersionView } from "../wire/api";
import { download } from "../wire/rest";
import { ChangeBox } from "./change_box";
import { Compare } from "./compare";
import { History } from "./history";
import { Stage } from "./stage";
import { VariantCard } from "./variant_card";

const Code = lazy(() => import("./code").then((module) => ({ default: module.Code })));
const Inspector = lazy(() => import("../events/inspector").then((module) => ({ default: module.Inspector })));

type Tab = "preview" | "code" | "compare" | "history" | "events";
type Selected = NonNullable<Prompt["selected"]>;

export function ProjectPage({ id, version: wanted, tab }: { id: string; version: string | null; tab: string }) {
  const fetched = useFetched(id, () => projects.one(id));
  useChanges(id, fetched.value, fetched.set, fetched.again);
  if (fetched.error !== null) {
    return (
      <div className="empty grow" role="alert">
        <Icon name="alert" size={20} />
        <p>{fetched.error.message}</p>
        <Button onClick={() => go()}>Start</Button>
      </div>
    );
  }
  const project = fetched.value;
  const versions = project?.versions ?? [];
  const version = versions.find((each) => each.id === wanted) ?? versions.at(-1);
  if (project === null || version === undefined) return <div className="empty grow">Loading…</div>;
  return <Open key={version.id} project={project} version={version} tab={asTab(tab)} onChanged={fetched.again} />;
}

interface OpenProps {
  project: ProjectView;
  version: VersionView;
  tab: Tab;
  onChanged(): void;
}

function Open({ project, version, tab, onChanged }: OpenProps) {
  const [index, setIndex] = useState(version.chosen);
  const [selecting, setSelecting] = useState(false);
  const [selected, setSelected] = useState<Selected | null>(null);
  const variant = version.variants[index] ?? version.variants[0];
  const choose = useCallback(
    (next: number) => {
      setIndex(next);
      setSelected(null);
      projects.act(project.id, { version: version.id, variant: next }, "choose").catch(() => undefined);
    },
    [project.id, version.id],
  );
  useNumbers(version.variants.length, choose);
  const show = (next: Tab, to = version.id) => go("project", project.id, next, to);
  const pointed = useCallback((said: Selected) => {
    setSelected(said);
    setSelecting(false);
  }, []);
  if (variant === undefined) return <div className="empty grow">This version has no variants.</div>;
  const base: Base = { version: version.id, variant: variant.index };
  const add = async (body: Parameters<typeof projects.addVersion>[1]) => {
    const added = await projects.addVersion(project.id, body);
    onChanged();
    show(body.kind === "edit" ? "code" : "preview", added.id);
  };
  const busy = variant.status === "running" || variant.status === "queued";
  return (
    <div className="project">
      <header className="view-head">
        <h1 className="truncate grow" title={project.title}>
          {project.title || "Untitled"}
        </h1>
        <select className="select" aria-label="Version" value={version.id} onChange={(event) => show(tab, event.target.value)}>
          {project.versions?.map((each) => (
            <option key={each.id} value={each.id}>
              Version {each.number}
            </option>
          ))}
        </select>
        <Segmented
          tabs
          label="Parts of the project"
          value={tab}
          onChange={(next) => show(next)}
          choices={[
            { value: "preview", label: "Preview", icon: "desktop" },
            { value: "code", label: "Code", icon: "code" },
            { value: "compare", label: "Compare", icon: "compare" },
            { value: "history", label: "History", icon: "history" },
            { value: "events", label: "Events", icon: "pulse" },
          ]}
        />
        <Menu
          icon="download"
          label="Download"
          actions={[
            { label: "All files (zip)", icon: "download", run: () => download(projects.exportPath(project.id, base, "zip")) },
            { label: "One page (HTML)", icon: "file", run: () => download(projects.exportPath(project.id, base, "html")) },
          ]}
        />
      </header>
      <div className="variants" role="group" aria-label="Variants">
        {version.variants.map((each) => (
          <VariantCard
            key={each.index}
            project={project.id}
            version={version.id}
            variant={each}
            chosen={each === variant}
            changes={version.base !== null}
            onChoose={choose}
            onActed={(acted) => {
              onChanged();
              if (acted.id !== version.id) show("preview", acted.id);
            }}
          />
        ))}
      </div>
      <div className="project-body">
        <section className="project-main" aria-label={`Variant ${variant.index + 1}: ${tab}`}>
          <Suspense fallback={<div className="empty grow">Loading…</div>}>
            {tab === "preview" && (
              <Stage version={version.id} variant={variant} changes={version.base !== null} selecting={selecting} onSelecting={setSelecting} onSelected={pointed} />
            )}
            {tab === "code" && (
              <Code key={variant.index} project={project} base={base} variant={variant} onSave={(files) => add({ kind: "edit", base, files })} />
            )}
            {tab === "compare" && <Compare project={project} base={base} variant={variant} />}
            {tab === "history" && (
              <History
                project={project}
                current={version.id}
                onOpen={(each) => show("preview", each.id)}
                onRestore={(each) => void add({ kind: "restore", base: { version: each.id, variant: each.chosen } }).catch(showFailure)}
              />
            )}
            {tab === "events" && <VariantEvents variant={variant} />}
          </Suspense>
        </section>
        <aside className="project-side" aria-label="Conversation">
          <Talk key={variant.session} variant={variant} version={version} />
          <ChangeBox
            selected={selected}
            onClear={() => setSelected(null)}
            busy={busy}
            onSend={(prompt, variants) => add({ kind: "update", base, prompt, variants })}
          />
        </aside>
      </div>
    </div>
  );
}

const MADE = { create: "", update: "", edit: "This version was edited by hand.", restore: "This version is an earlier one, restored." } as const;

function Talk({ variant, version }: { variant: VariantView; version: VersionView }) {
  const followed = useFollowed(variant.session);
  if (followed === null || (followed.complete && followed.conversation.transcript.items.length === 0)) {
    return <div className="empty grow">{MADE[version.kind]}</div>;
  }
  return <Thread session={variant.session} followed={followed} />;
}

function VariantEvents({ variant }: { variant: VariantView }) {
  const followed = useFollowed(variant.session);
  if (followed === null) return null;
  return <Inspector session={variant.session} conversation={followed.conversation} />;
}

/** Alt and a number choose a variant. */
function useNumbers(count: number, choose: (index: number) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const found = /^Digit([1-9])$/.exec(event.code);
      if (!event.altKey || event.ctrlKey || event.metaKey || found === null) return;
      const index = Number(found[1]) - 1;
      if (index >= count) return;
      event.preventDefault();
      choose(index);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [count, choose]);
}

/** The server says when a project changes; while something runs the page also looks for itself. */
function useChanges(id: string, project: ProjectView | null, set: (project: ProjectView) => void, again: () => void): void {
  const { socket } = useLive();
  const running = project?.versions?.some((version) => version.variants.some(({ status }) => status === "running" || status === "queued")) ?? false;
  useEffect(() => {
    socket.onProject = (changed) => {
      if (changed.id === id) set(changed);
    };
    socket.followProject(id);
    return () => socket.leaveProject(id);
  }, [socket, id, set]);
  useEffect(() => {
    if (!running) return undefined;
    const timer = window.setInterval(again, 2000);
    return () => window.clearInterval(timer);
  }, [running, again]);
}

function asTab(tab: string): Tab {
  return tab === "code" || tab === "compare" || tab === "history" || tab === "events" ? tab : "preview";
}
