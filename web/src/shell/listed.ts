/** The projects and sessions that can be opened. The menu lists them; other parts of the page show what it has listed. */

import { useDelayed } from "../parts/delayed";
import { isBuilding, projects, type ProjectView, sessions, type SessionView } from "../wire/api";
import { ApiError } from "../wire/rest";
import { useAway } from "./away";
import { type Fetched, useFetched } from "./fetched";
import { usePolling, useReloadOn } from "./polling";

export interface Listed {
  projects: readonly ProjectView[];
  /** Without those of variants, which belong to a project. */
  sessions: readonly SessionView[];
  /** Whether there are older ones. */
  more: boolean;
  /** When it was listed, in milliseconds: an equal list of another time is another value. */
  time: number;
}

/** Those whose titles hold the words, the newest first. */
async function list(search: string): Promise<Listed> {
  const [designed, listed] = await Promise.all([projects.list(search).catch(withoutStudio), sessions.list(search)]);
  const conversations = listed.sessions.filter((session: SessionView) => !session.project);
  return { projects: designed.projects, sessions: conversations, more: designed.next !== null || listed.next !== null, time: Date.now() };
}

function withoutStudio(error: unknown): { projects: ProjectView[]; next: null } {
  if (error instanceof ApiError && error.status === 404) return { projects: [], next: null };
  throw error;
}

/** Milliseconds between two lists, also while something in them is at work. */
const EVERY = 15_000;
const EVERY_AT_WORK = 3_000;
const AFTER_A_LETTER = 200;

const keyOf = (search: string) => `list ${search}`;

/** What was listed last without a search; null before that. It is not fetched. */
export function useRecent(): Listed | null {
  return useFetched(keyOf(""), () => list(""), { isPassive: true }).value;
}

/** The projects and sessions whose titles hold the words. The last list stays until the next one is there. */
export function useMatches(search: string): Fetched<Listed> {
  const words = useDelayed(search.trim(), AFTER_A_LETTER);
  return useFetched(keyOf(words), () => list(words), { keepsLast: true });
}

/** Keep a list up to date while it is shown. What was listed stays while the server is away. `place` is where the page is. */
export function useListed(search: string, place: string, isVisible: boolean): { listed: Listed | null; reload(): void } {
  const all = useRecent();
  const words = useDelayed(search.trim(), AFTER_A_LETTER);
  const away = useAway();
  const fetched = useFetched(isVisible && !away ? keyOf(words) : null, () => list(words), { keepsLast: true });
  const every = all?.projects.some(isBuilding) || all?.sessions.some((session) => session.busy) ? EVERY_AT_WORK : EVERY;
  usePolling(fetched, isVisible && !away ? every : null);
  useReloadOn(fetched, place);
  return { listed: words === "" ? all : fetched.value, reload: fetched.reload };
}
