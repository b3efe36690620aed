import { useSyncExternalStore } from "react";

/** A yes or no that several components share. */
export class Flag {
  private value = false;
  private readonly listeners = new Set<() => void>();

  set(value: boolean): void {
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly read = (): boolean => this.value;
}

export function useFlag(flag: Flag): boolean {
  return useSyncExternalStore(flag.subscribe, flag.read);
}
