/** Everything that can be done here and every project, found by a few letters. Ctrl-K opens it. */

import { useEffect, useState } from "react";
import { useModal } from "../parts/dialog";
import { plain } from "../parts/format";
import { Icon, type IconName } from "../parts/icon";
import { useKeys, withControl } from "../parts/keys";
import { palette as texts } from "../texts/shell";
import { type Command, useCommands, useOffered } from "./commands";
import { useMatches } from "./listed";
import { address, go } from "./route";
import { useTextHits } from "./text_hits";
import { useTheme } from "./theme";

export function Palette() {
  const [open, setOpen] = useState(false);
  const [theme, setTheme] = useTheme();
  const dark = theme === "dark" || (theme === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  useCommands([
    { name: texts.newProject, icon: "plus", run: () => go() },
    { name: texts.settings, icon: "gear", run: () => go("settings") },
    { name: texts.allSessions, icon: "chat", run: () => go("sessions") },
    { name: dark ? texts.lightTheme : texts.darkTheme, icon: dark ? "sun" : "moon", run: () => setTheme(dark ? "light" : "dark") },
  ]);
  useKeys(withControl("k", () => setOpen((now) => !now)), { typing: true, dialogs: true, handled: true });
  return open ? <Opened onClose={() => setOpen(false)} /> : null;
}

interface Entry {
  key: string;
  name: string;
  icon: IconName;
  hint: string;
  run(): void;
}

function Opened({ onClose }: { onClose(): void }) {
  const box = useModal();
  const [search, setSearch] = useState("");
  const [at, setAt] = useState(0);
  const places = usePlaces(search);
  const offered = useOffered().filter((command) => command.disabled !== true).map(entryOf);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const { hits } = useTextHits(search);
  const said = hits.map((hit) => ({ key: hit.key, name: `${hit.title}: ${plain(hit.excerpt)}`, icon: "search" as const, hint: "", run: () => (location.hash = hit.href) }));
  const named = [...offered, ...places].filter((entry) => words.every((word) => entry.name.toLowerCase().includes(word)));
  const entries = [...named, ...said].slice(0, 60);
  const marked = Math.min(at, entries.length - 1);
  useEffect(() => {
    box.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [box, marked]);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  return (
    <dialog ref={box} className="palette" aria-label={texts.commands} onCancel={onClose} onClose={onClose} onClick={(event) => event.target === box.current && onClose()}>
      <input
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries[marked] === undefined ? undefined : `palette-${marked}`}
        aria-label={texts.searchCommandsProjectsAndWhat}
        placeholder={texts.whatToDoNow}
        autoFocus
        value={search}
        onChange={(event) => {
          setSearch(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(marked + 1, entries.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(marked - 1, 0));
          else if (event.key === "Enter") run(entries[marked]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" className="palette-list" role="listbox" aria-label={texts.commandsAndProjects}>
        {entries.map((entry, number) => (
          <li
            key={entry.key}
            id={`palette-${number}`}
            role="option"
            aria-selected={number === marked}
            onPointerMove={() => setAt(number)}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} size={14} />
            <span className="grow truncate">{entry.name}</span>
            {entry.hint !== "" && <kbd>{entry.hint}</kbd>}
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="faint palette-none">{texts.nothingFoundTryFewerWords}</p>}
    </dialog>
  );
}

function entryOf(command: Command): Entry {
  return { key: `do ${command.name}`, name: command.name, icon: command.icon ?? "right", hint: command.hint ?? command.key ?? "", run: command.run };
}

/** Projects and conversations whose titles hold the words. */
function usePlaces(search: string): Entry[] {
  const listed = useMatches(search).value;
  if (listed === null) return [];
  const designed = listed.projects.map((project) => placeOf("project", project.id, project.title));
  return [...designed, ...listed.sessions.map((session) => placeOf("session", session.id, session.title))];
}

function placeOf(kind: "project" | "session", id: string, title: string): Entry {
  const run = () => {
    location.hash = address(kind, id);
  };
  return { key: id, name: title || texts.untitled, icon: kind === "project" ? "grid" : "chat", hint: "", run };
}
