/** The versions that waiting changes of this tab make are shown when they are there; those of other tabs are not. */

import { useEffect, useEffectEvent } from "react";
import type { VersionView } from "../wire/api";

const NAME = "heald-queued";

function read(): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(NAME) ?? "[]");
    return Array.isArray(stored) ? stored.map(String) : [];
  } catch {
    return [];
  }
}

function write(ids: readonly string[]): void {
  try {
    sessionStorage.setItem(NAME, JSON.stringify(ids.slice(-100)));
  } catch {
    return; // the version is not shown by itself
  }
}

/** Remember that this tab sent a change that waits on the server. */
export function rememberQueued(id: string): void {
  write([...read(), id]);
}

/** Call `show` with a version that a change of this tab made in the version that is shown. */
export function useQueuedVersions(versions: readonly VersionView[], shown: string, show: (version: string) => void): void {
  const onMade = useEffectEvent(show);
  useEffect(() => {
    const ids = read();
    const made = versions.find((version) => version.base?.version === shown && version.queued !== "" && ids.includes(version.queued));
    if (made === undefined) return;
    write(ids.filter((id) => id !== made.queued));
    onMade(made.id);
  }, [versions, shown]);
}
