/** Listeners by name, such as those of a session. */

export class ListenerMap {
  private readonly listeners = new Map<string, Set<() => void>>();

  /** Add a listener to those of a name, until the returned function is called. */
  add(name: string, listener: () => void): () => void {
    const others = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, others);
    others.add(listener);
    return () => {
      others.delete(listener);
      if (others.size === 0 && this.listeners.get(name) === others) this.listeners.delete(name);
    };
  }

  has(name: string): boolean {
    return this.listeners.has(name);
  }

  call(name: string): void {
    for (const listener of [...(this.listeners.get(name) ?? [])]) listener();
  }
}
