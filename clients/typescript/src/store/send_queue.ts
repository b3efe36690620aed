/**
 * An outbox: contents that are sent in their order, one at a time, each with an id of its own. An entry whose response
 * was lost is sent a second time with the same id, so that a server that knows the id accepts it once.
 */

import type { Content } from "../content.js";
import { ApiError, newRequestId } from "../http.js";
import type { WhenBusy } from "../sessions.js";

/** A message to a session. */
export interface OutgoingMessage {
  content: string | Content;
  whenBusy: WhenBusy;
  /** Data of the program that is stored with the message, such as the draft that it was made from. */
  draft?: unknown;
}

export interface QueueEntry<T> {
  readonly id: number;
  /** Stays the same however often the entry is sent. */
  readonly requestId: string;
  readonly content: T;
  /** waiting: for its turn. sending: on its way. failed: nothing behind it is sent until it is sent again or removed. */
  readonly status: "waiting" | "sending" | "failed";
  /** Why it failed, or why the last attempt did. */
  readonly reason: string;
}

/** Where the entries are stored, such as a database of the browser. */
export interface QueueStorage<T> {
  read(): Promise<readonly QueueEntry<T>[]>;
  write(entries: readonly QueueEntry<T>[]): void;
}

export interface SendQueueOptions<T> {
  send(entry: QueueEntry<T>): Promise<void>;
  /** Whether an entry that failed with this error waits and is sent again. By default none does. */
  repeats?(error: unknown): boolean;
  storage?: QueueStorage<T>;
  /** Whether an entry that was on its way when the program ended is sent again with its id. By default a person decides. */
  resumes?: boolean;
  /** Called when an entry was sent, also with one that an earlier run of the program stored. */
  onSent?(content: T): void;
  /** Whether entries are sent from the beginning; else after `open`. True by default. */
  isOpen?: boolean;
}

/** Milliseconds before an entry is sent again. */
const RETRY = 2000;
const INTERRUPTED = "The page was closed while this was being sent. It may have arrived.";

export class SendQueue<T> {
  entries: readonly QueueEntry<T>[] = [];
  private isOpen: boolean;
  private lastId = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listeners = new Set<() => void>();
  private readonly outcomes = new Map<number, { resolve(isSent: boolean): void; reject(error: unknown): void }>();

  constructor(private readonly options: SendQueueOptions<T>) {
    this.isOpen = options.isOpen ?? true;
    void options.storage?.read().then((stored) => {
      if (stored.length === 0) return;
      this.replace([...stored.map((entry) => this.restored(entry)), ...this.entries]);
      this.sendNext();
    });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Add an entry behind the others and return it. */
  add(content: T): QueueEntry<T> {
    const entry: QueueEntry<T> = { id: ++this.lastId, requestId: newRequestId(), content, status: "waiting", reason: "" };
    this.replace([...this.entries, entry]);
    this.sendNext();
    return entry;
  }

  /** Add an entry and wait for its outcome: true if it was sent, false if it was removed. An entry that fails is removed, and its error raised. */
  deliver(content: T): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.outcomes.set(this.lastId + 1, { resolve, reject });
      this.add(content);
    });
  }

  /** Remove an entry. One that is on its way stays, and null is returned. */
  remove(id: number): QueueEntry<T> | null {
    const entry = this.entries.find((candidate) => candidate.id === id);
    if (entry === undefined || entry.status === "sending") return null;
    this.replace(this.entries.filter((candidate) => candidate !== entry));
    this.outcomeOf(id)?.resolve(false);
    this.sendNext();
    return entry;
  }

  sendAgain(id: number): void {
    this.update(id, { status: "waiting", reason: "" });
    this.sendNext();
  }

  /** Send what waits. */
  open(): void {
    this.isOpen = true;
    this.sendNext();
  }

  /** Send nothing until the next call of `open`. An entry that is on its way is not called back. */
  hold(): void {
    this.isOpen = false;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private sendNext(): void {
    const entry = this.entries[0];
    if (!this.isOpen || entry?.status !== "waiting") return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.update(entry.id, { status: "sending" });
    this.options.send(entry).then(
      () => {
        this.replace(this.entries.filter((candidate) => candidate.id !== entry.id));
        this.options.onSent?.(entry.content);
        this.outcomeOf(entry.id)?.resolve(true);
        this.sendNext();
      },
      (error: unknown) => this.onFailure(entry, error),
    );
  }

  private onFailure(entry: QueueEntry<T>, error: unknown): void {
    const reason = error instanceof ApiError ? error.message : "It could not be sent.";
    if (this.options.repeats?.(error) === true) {
      this.update(entry.id, { status: "waiting", reason });
      if (this.isOpen) this.timer = setTimeout(() => this.sendNext(), RETRY);
      return;
    }
    const outcome = this.outcomeOf(entry.id);
    if (outcome === undefined) {
      this.update(entry.id, { status: "failed", reason });
      return;
    }
    this.replace(this.entries.filter((candidate) => candidate.id !== entry.id));
    outcome.reject(error);
    this.sendNext();
  }

  private outcomeOf(id: number) {
    const outcome = this.outcomes.get(id);
    this.outcomes.delete(id);
    return outcome;
  }

  private update(id: number, state: Partial<QueueEntry<T>>): void {
    this.replace(this.entries.map((entry) => (entry.id === id ? { ...entry, ...state } : entry)));
  }

  private replace(entries: readonly QueueEntry<T>[]): void {
    this.entries = entries;
    this.options.storage?.write(entries);
    for (const listener of [...this.listeners]) listener();
  }

  private restored(entry: QueueEntry<T>): QueueEntry<T> {
    const id = ++this.lastId;
    if (entry.status !== "sending") return { ...entry, id };
    return this.options.resumes === true ? { ...entry, id, status: "waiting" } : { ...entry, id, status: "failed", reason: INTERRUPTED };
  }
}
