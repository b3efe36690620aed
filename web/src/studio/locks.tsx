/** Locks what must stay as it is: an element, its text, its style, a file. A change that alters it is refused. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Popover } from "../parts/menu";
import { showFailure, showToast } from "../parts/toasts";
import type { Base, LockView, ProjectView } from "../wire/api";
import { post, remove, route } from "../wire/rest";

export type LockKind = LockView["kind"];

interface Part {
  path?: string;
  page?: string;
  file?: string;
}

/** Locks and unlocks parts of a project; `busy` while the server looks at the page. */
export function useLocks(project: ProjectView, base: Base, onChanged: () => void) {
  const [busy, setBusy] = useState(false);
  const work = (doing: Promise<unknown>, done: string) => {
    setBusy(true);
    doing
      .then(() => {
        showToast(done);
        onChanged();
      })
      .catch(showFailure)
      .finally(() => setBusy(false));
  };
  return {
    busy,
    lock: (kind: LockKind, part: Part) => work(post(route("projects", project.id, "locks"), { kind, base, ...part }), "Locked. Changes that alter it are refused."),
    unlock: (lock: LockView) => work(remove(route("projects", project.id, "locks", lock.id)), `Unlocked: ${lock.label}`),
  };
}

interface PartProps {
  project: ProjectView;
  base: Base;
  away: boolean;
  onChanged(): void;
}

const KINDS: { kind: LockKind; label: string; hint: string }[] = [
  { kind: "element", label: "Element", hint: "Its pixels, its words and its markup stay" },
  { kind: "text", label: "Text", hint: "Its words stay, drawn as they are" },
  { kind: "style", label: "Style", hint: "It stays drawn as it is; its words may change" },
];

/** The buttons that lock the selected element, below the fields that change it. */
export function ElementLocks({ project, base, away, onChanged, path, page, hasText }: PartProps & { path: string; page: string; hasText: boolean }) {
  const { busy, lock, unlock } = useLocks(project, base, onChanged);
  return (
    <div className="row wrap element-locks" role="group" aria-label="Lock the element">
      <span className="row">
        <Icon name="lock" size={14} /> Lock
      </span>
      {KINDS.filter(({ kind }) => kind !== "text" || hasText).map(({ kind, label, hint }) => {
        const current = project.locks.find((other) => other.kind === kind && other.path === path && other.page === page);
        return (
          <Button key={kind} small title={hint} aria-pressed={current !== undefined} disabled={busy || away} onClick={() => (current === undefined ? lock(kind, { path, page }) : unlock(current))}>
            {label}
          </Button>
        );
      })}
    </div>
  );
}

/** The button that locks the file that is shown. */
export function FileLock({ project, base, away, onChanged, file }: PartProps & { file: string }) {
  const { busy, lock, unlock } = useLocks(project, base, onChanged);
  const current = project.locks.find((other) => other.kind === "file" && other.file === file);
  return (
    <Button small icon="lock" aria-pressed={current !== undefined} disabled={busy || away} onClick={() => (current === undefined ? lock("file", { file }) : unlock(current))}>
      {current === undefined ? "Lock" : "Locked"}
    </Button>
  );
}

/** What is locked in a project, above the box that changes it; nothing if nothing is. */
export function LockList({ project, base, away, onChanged }: PartProps) {
  const [open, setOpen] = useState(false);
  const { busy, unlock } = useLocks(project, base, onChanged);
  if (project.locks.length === 0) return null;
  return (
    <div className="lock-list">
      <Popover
        open={open}
        onClose={() => setOpen(false)}
        button={
          <Button small icon="lock" aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(!open)}>
            {project.locks.length} locked
          </Button>
        }
      >
        <ul className="menu locks" aria-label="Locks">
          {project.locks.map((lock) => (
            <li key={lock.id} className="row">
              <span className="grow">
                {lock.label}
                {lock.page !== "" && ` (${lock.page})`}
                {lock.author === "model" && ", by the model"}
              </span>
              <Button small aria-label={`Unlock ${lock.label}`} disabled={busy || away} onClick={() => unlock(lock)}>
                Unlock
              </Button>
            </li>
          ))}
        </ul>
      </Popover>
    </div>
  );
}
