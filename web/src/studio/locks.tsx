/** Locks what must stay as it is: an element, its text, its style, a file. A change that alters it is refused. */

import "../style/locks.css";
import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Popover } from "../parts/menu";
import { showFailure, showToast } from "../parts/toasts";
import { locks as texts } from "../texts/project";
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
    lock: (kind: LockKind, part: Part) => work(post(route("projects", project.id, "locks"), { kind, base, ...part }), texts.lockedHint),
    unlock: (lock: LockView) => work(remove(route("projects", project.id, "locks", lock.id)), texts.unlocked(lock.label)),
  };
}

interface PartProps {
  project: ProjectView;
  base: Base;
  away: boolean;
  onChanged(): void;
}

const KINDS: { kind: LockKind; label: string; hint: string }[] = [
  { kind: "element", label: texts.element, hint: texts.elementStays },
  { kind: "text", label: texts.text, hint: texts.textStays },
  { kind: "style", label: texts.style, hint: texts.styleStays },
];

/** The buttons that lock the selected element, below the fields that change it. */
export function ElementLocks({ project, base, away, onChanged, path, page, hasText }: PartProps & { path: string; page: string; hasText: boolean }) {
  const { busy, lock, unlock } = useLocks(project, base, onChanged);
  return (
    <div className="row wrap element-locks" role="group" aria-label={texts.lockTheElement}>
      <span className="row">
        <Icon name="lock" size={14} /> {texts.lock}
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
      {current === undefined ? texts.lock : texts.locked}
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
            {texts.lockedCount(project.locks.length)}
          </Button>
        }
      >
        <ul className="menu locks" aria-label={texts.locks}>
          {project.locks.map((lock) => (
            <li key={lock.id} className="row">
              <span className="grow">
                {lock.label}
                {lock.page !== "" && ` (${lock.page})`}
                {lock.author === "model" && texts.byTheModel}
              </span>
              <Button small aria-label={texts.unlock(lock.label)} disabled={busy || away} onClick={() => unlock(lock)}>
                {texts.unlockLabel}
              </Button>
            </li>
          ))}
        </ul>
      </Popover>
    </div>
  );
}
