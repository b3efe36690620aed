/** The projects and sessions that can be opened. The menu lists them; other parts of the page show what it has listed. */

import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { isBuilding, projects, type ProjectView, sessions, type SessionView } from "../wire/api";
import { ApiError } from "../wire/rest";
import { useAway } from "./away";

export interface Listed {
  projects: readonly ProjectView[];
  /** Without those of variants, which belong to a project. */
  sessions: readonly SessionView[];
  /** Whether there are older ones. */
  more: boolean;
}

/** Those whose titles hold the words, the newest first. */
export async function list(search: string): Promise<Listed> {
  const [designed, listed] = await Promise.all([projects.list(search).catch(withoutStudio), sessions.list(search)]);
  const conversations = listed.sessions.filter((session: SessionView) => !session.project);
  return { projects: designed.projects, sessions: conversations, more: designed.next !== null || listed.next !== null };
}

function withoutStudio(error: unknown): { projects: ProjectView[]; next: null } {
  if (error instanceof ApiError && error.status === 404) return { projects: [], next: null };
  throw error;
}

/** Milliseconds between two lists, also while something in them is at work. */
const EVERY = 15_000;
const EVERY_AT_WORK = 3_000;
const AFTER_A_LETTER = 200;

let recent: Listed | null = null;
const listeners = new Set<() => void>();

function setRecent(listed: Listed): void {
  recent = listed;
  for (const listener of listeners) listener();
}

/** What the menu listed last without a search; null before that. */
export function useRecent(): Listed | null {
  return useSyncExternalStore(subscribe, () => recent);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keep a list up to date while it is shown. What was listed stays while the server is away. `place` is where the page is. */
export function useListed(search: string, place: string, isVisible: boolean): { listed: Listed | null; reload(): void } {
  const all = useRecent();
  const [matches, setMatches] = useState<Listed | null>(null);
  const [count, setCount] = useState(0);
  const reload = useCallback(() => setCount((now) => now + 1), []);
  const away = useAway();
  const active = isVisible && !away;
  const every = all?.projects.some(isBuilding) || all?.sessions.some((session) => session.busy) ? EVERY_AT_WORK : EVERY;
  useEffect(() => {
    if (!active) return undefined;
    let current = true;
    const load = () => {
      list(search).then(
        (listed) => current && (search === "" ? setRecent(listed) : setMatches(listed)),
        () => undefined,
      );
    };
    const timer = window.setTimeout(load, search === "" ? 0 : AFTER_A_LETTER);
    return () => {
      current = false;
      window.clearTimeout(timer);
    };
  }, [search, place, count, active]);
  useEffect(() => {
    if (!active) return undefined;
    const poll = window.setInterval(reload, every);
    return () => window.clearInterval(poll);
  }, [active, every, reload]);
  return { listed: search === "" ? all : matches, reload };
}
