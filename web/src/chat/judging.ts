/** Changes of files that nobody has accepted yet, as the server has them; and what a person decides about them. */

import { filePath, get, post, route } from "../wire/rest";

export interface Change {
  path: string;
  kind: "created" | "changed" | "deleted";
  /** What it is compared with, and what it holds now: a decision is about these and no others. */
  base: string | null;
  hash: string | null;
  problem: string;
}

export interface Hunk {
  text: string;
  added: number;
  removed: number;
}

export interface Hunks extends Change {
  /** Null where the file can only be decided on as a whole. */
  hunks: Hunk[] | null;
}

export type Decision = "accept" | "revert";

export const changes = {
  all: (session: string) => get<{ changes: Change[] }>(route("sessions", session, "changes")),
  of: (session: string, path: string) => get<Hunks>(pathOf(session, path)),
  judge: (session: string, { path, base, hash }: Change, decision: Decision, hunk?: number) =>
    post<Hunks>(pathOf(session, path), { decision, base, hash, ...(hunk === undefined ? {} : { hunks: [hunk] }) }),
};

function pathOf(session: string, path: string): string {
  return `${route("sessions", session, "changes")}/${filePath(path)}`;
}
