/** What can be done here, by name: the command palette lists it, and some of it has a key. */

import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import type { IconName } from "../parts/icon";
import { forCharacter, useKeys } from "../parts/keys";

export interface Command {
  name: string;
  icon?: IconName;
  /** The character that runs it while nothing is being written; a capital letter needs Shift. */
  key?: string;
  /** What stands beside its name if it is not the key. */
  hint?: string;
  disabled?: boolean;
  run(): void;
}

let groups: readonly (readonly Command[])[] = [];
const listeners = new Set<() => void>();

function publish(next: readonly (readonly Command[])[]): void {
  groups = next;
  for (const listener of listeners) listener();
}

/** Offer commands as long as the component is there. */
export function useCommands(commands: readonly Command[]): void {
  const current = useEffectEvent(() => commands);
  const names = commands.map((command) => `${command.name}|${command.key ?? ""}|${command.disabled === true}`).join("\n");
  useEffect(() => {
    // The actions are looked up when they run: they change with every rendering, their names seldom do.
    const group = current().map((command) => ({
      ...command,
      run: () => current().find((other) => other.name === command.name)?.run(),
    }));
    publish([...groups, group]);
    return () => publish(groups.filter((other) => other !== group));
  }, [names]);
  const enabled = commands.filter((command) => command.disabled !== true);
  useKeys(Object.assign({}, ...enabled.map(({ key, run }) => (key === undefined ? {} : forCharacter(key, () => run())))));
}

export function useOffered(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => groups).flat();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
