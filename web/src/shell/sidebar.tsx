/** The way around: what is new, what was, and whether the server is there. */

import icon from "../icon.svg";
import { useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useConnection, useLive } from "../live/hooks";
import { Button, IconButton } from "../parts/button";
import { Confirm } from "../parts/dialog";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { showFailure } from "../parts/toasts";
import { sidebar as texts } from "../texts/shell";
import { isBuilding, projects, type ProjectView, sessions, type SessionView } from "../wire/api";
import { showHelp } from "./help";
import { type Listed, useListed } from "./listed";
import { Rename } from "./rename";
import { address, go, type Route } from "./route";
import { useTextHits } from "./text_hits";
import { useTheme } from "./theme";

interface Entry {
  kind: "session" | "project";
  id: string;
  title: string;
  updated: number;
  busy: boolean;
}

interface Props {
  route: Route;
  open: boolean;
  /** Folded to a strip of buttons until it is opened. */
  rail: boolean;
  onOpen(): void;
  onClose(): void;
}

export function Sidebar({ route, open, rail, onOpen, onClose }: Props) {
  const [search, setSearch] = useState("");
  const { listed, reload } = useListed(search, "id" in route ? route.id : route.view, !rail || open);
  const { hits, busy } = useTextHits(search);
  const entries = listed === null ? [] : entriesOf(listed);
  const current = "id" in route ? route.id : "";
  useFocusMoves(open);
  if (rail && !open) return <Rail onOpen={onOpen} />;
  return (
    <nav className={`sidebar ${open ? "open" : ""}`} aria-label={texts.main}>
      <div className="row brand">
        <a href={address()} className="row brand-name" onClick={onClose}>
          <img src={icon} width={22} height={22} alt="" />
          Heald
        </a>
        <span className="grow" />
        <ThemeButton />
        <IconButton icon="close" label={texts.closeMenu} className={`close-menu ${rail ? "" : "only-small"}`} onClick={onClose} />
      </div>
      <a className="button primary" href={address()} onClick={onClose}>
        <Icon name="plus" />
        {texts.new}
      </a>
      <div className="search">
        <Icon name="search" size={14} />
        <input
          type="search"
          aria-label={texts.searchProjectsAndSessions}
          placeholder={texts.search}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <ul className="entries" aria-label={texts.recent}>
        {entries.map((entry) => (
          <Row key={entry.id} entry={entry} current={entry.id === current} onChanged={reload} onClose={onClose} />
        ))}
        {listed !== null && entries.length + hits.length === 0 && !busy && <li className="faint entries-empty">{search ? texts.nothingFoundTryFewerWords : texts.nothingYet}</li>}
        {hits.map((hit) => (
          <li key={hit.key} className="text-hit">
            <a href={hit.href} onClick={onClose}>
              <span className="truncate">{hit.title}</span>
              <span className="faint text-hit-words">{plain(hit.excerpt)}</span>
            </a>
          </li>
        ))}
        {listed?.more === true && <li className="faint entries-empty">{texts.searchForOlderOnes}</li>}
      </ul>
      <div className="sidebar-foot">
        <ConnectionState />
        <a className="button quiet" href={address("sessions")} onClick={onClose} aria-current={route.view === "sessions" ? "page" : undefined}>
          <Icon name="chat" />
          {texts.allSessions}
        </a>
        <a className="button quiet" href={address("settings")} onClick={onClose} aria-current={route.view === "settings" ? "page" : undefined}>
          <Icon name="gear" />
          {texts.settings}
        </a>
        <Button
          look="quiet"
          icon="question"
          onClick={() => {
            flushSync(onClose); // the focus is at the button of the menu when the dialog opens, and comes back to it
            showHelp();
          }}
        >
          {texts.help}
        </Button>
      </div>
    </nav>
  );
}

/** The focus goes into the menu when it is opened, and back to the button that opened it. */
function useFocusMoves(open: boolean): void {
  const opener = useRef<Element | null>(null);
  useEffect(() => {
    if (!open) return undefined;
    opener.current = document.activeElement;
    document.querySelector<HTMLElement>(".sidebar .close-menu")?.focus();
    return () => {
      const button = opener.current !== document.body ? opener.current : document.querySelector(".rail .open-menu");
      if (button instanceof HTMLElement) button.focus();
    };
  }, [open]);
}

/** The same in a narrow strip, for views that need the room. */
function Rail({ onOpen }: { onOpen(): void }) {
  const state = useConnection();
  return (
    <nav className="sidebar rail" aria-label={texts.main}>
      <a href={address()} className="brand-name" aria-label={texts.healdStart} title={texts.start}>
        <img src={icon} width={24} height={24} alt="" />
      </a>
      <IconButton icon="menu" label={texts.projectsAndSessions} className="open-menu" aria-expanded={false} onClick={onOpen} />
      <a className="button icon quiet" href={address()} aria-label={texts.new} title={texts.new}>
        <Icon name="plus" />
      </a>
      <span className="grow" />
      <ThemeButton />
      <a className="button icon quiet" href={address("settings")} aria-label={texts.settings} title={texts.settings}>
        <Icon name="gear" />
      </a>
      <div className={`connection ${state}`} role="status" data-testid="connection" title={STATES[state]}>
        <span className="dot" aria-hidden="true" />
        <span className="unseen">{STATES[state]}</span>
      </div>
    </nav>
  );
}

function Row({ entry, current, onChanged, onClose }: { entry: Entry; current: boolean; onChanged(): void; onClose(): void }) {
  const [renaming, setRenaming] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const isProject = entry.kind === "project";
  const rename = (title: string) => {
    const renamed: Promise<unknown> = isProject ? projects.rename(entry.id, title) : sessions.change(entry.id, { title });
    renamed.then(onChanged).catch(showFailure);
  };
  const drop = () => {
    (isProject ? projects.remove(entry.id) : sessions.remove(entry.id))
      .then(() => {
        onChanged();
        if (current) go();
      })
      .catch(showFailure);
  };
  return (
    <li className={`entry ${current ? "current" : ""}`}>
      <a href={address(entry.kind, entry.id)} aria-current={current ? "page" : undefined} onClick={onClose} title={entry.title}>
        <Icon name={isProject ? "grid" : "chat"} size={14} />
        <span className="truncate grow">{entry.title || texts.untitled}</span>
        {entry.busy && <span className="dot" role="img" aria-label={texts.atWork} />}
      </a>
      <Menu
        label={texts.moreFor(entry.title || "Untitled")}
        actions={[
          { label: texts.rename, icon: "edit", run: () => setRenaming(true) },
          { label: texts.delete, icon: "trash", danger: true, run: () => setDeleting(true) },
        ]}
      />
      {renaming && <Rename title={entry.title} onRename={rename} onClose={() => setRenaming(false)} />}
      {deleting && (
        <Confirm
          title={texts.deleteTitle(entry.title || "Untitled")}
          text={texts.deletedPermanently}
          action={texts.delete}
          onConfirm={drop}
          onClose={() => setDeleting(false)}
        />
      )}
    </li>
  );
}

const MOST = 60;

function entriesOf({ projects: designed, sessions: listed }: Listed): Entry[] {
  return [...designed.map(projectEntry), ...listed.map(sessionEntry)].sort((a, b) => b.updated - a.updated).slice(0, MOST);
}

function sessionEntry(session: SessionView): Entry {
  return { kind: "session", id: session.id, title: session.title, updated: timeOf(session.updated), busy: session.busy === true };
}

function projectEntry(project: ProjectView): Entry {
  return { kind: "project", id: project.id, title: project.title, updated: timeOf(project.updated), busy: isBuilding(project) };
}

function timeOf(moment: number | string): number {
  return typeof moment === "number" ? moment : Date.parse(moment) / 1000;
}

const STATES = { open: texts.connected, connecting: texts.connecting, lost: texts.connectionLost, refused: texts.signedOut } as const;

function ConnectionState() {
  const state = useConnection();
  const { socket } = useLive();
  return (
    <div className={`connection ${state}`} role="status" data-testid="connection">
      <span className="dot" aria-hidden="true" />
      <span className="grow">{STATES[state]}</span>
      {state === "lost" && (
        <Button small look="quiet" onClick={() => socket.reconnect()}>
          {texts.tryNow}
        </Button>
      )}
    </div>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useTheme();
  const next = theme === "system" ? "light" : theme === "light" ? "dark" : "system";
  const icon = theme === "dark" ? "moon" : theme === "light" ? "sun" : "desktop";
  return <IconButton icon={icon} label={texts.themeChangeTo(theme, next)} onClick={() => setTheme(next)} />;
}
