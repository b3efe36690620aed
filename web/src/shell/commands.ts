/** What can be done here, by name: the command palette lists it, and some of it has a key. */

import { useEffect, useEffectEvent, useSyncExternalStore } from "react";
import type { IconName } from "../parts/icon";
import { isTyping } from "../parts/typing";

export interface Command {
  name: string;
  icon?: IconName;
  /** A key that runs it while nothing is being written, as `KeyboardEvent.key` names it. */
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
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      const command = group.find(({ key, disabled }) => key === event.key && disabled !== true);
      if (command === undefined) return;
      event.preventDefault();
      command.run();
    };
    document.addEventListener("keydown", pressed);
    return () => {
      publish(groups.filter((other) => other !== group));
      document.removeEventListener("keydown", pressed);
    };
  }, [names]);
}

export function useOffered(): readonly Command[] {
  return useSyncExternalStore(subscribe, () => groups).flat();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
