/**
 * The changes of a project that are still to be sent, in their order and one at a time. Each is sent once, when the variant
 * that it waits for is done; one that fails stays, with those behind it, until a person decides.
 *
 * The queue is outside of React, so that neither a rendering nor another view sends a change twice or loses one. It is kept
 * for the tab: another tab must not send the same change.
 */

import type { Attachment } from "../chat/attachments";
import { readObject, tabName, whenForgotten, writeObject } from "../parts/kept";
import { failureText } from "../parts/toasts";
import type { Prompt } from "../wire/api";
import { changeOf } from "./prompt";

export interface QueuedChange {
  id: number;
  text: string;
  attachments: Attachment[];
  selected: NonNullable<Prompt["selected"]> | null;
  variants: number;
  /** The models of its variants. */
  models: readonly string[];
  /** waiting: for its turn. sending: on its way. failed: nothing behind it is sent until it is sent again or removed. */
  status: "waiting" | "sending" | "failed";
  /** Why it failed. */
  reason: string;
}

/** Sends a change and returns the name of the version that it made. */
export type SendChange = (prompt: Prompt, variants: number, models: readonly string[]) => Promise<string>;

const INTERRUPTED = "The page was closed while this change was being sent. It may have arrived.";

export class ChangeQueue {
  changes: readonly QueuedChange[] = [];
  private send: SendChange | null = null;
  /** The version that the last change made: the next one is made in it, and so waits until it is shown. */
  private pendingVersion: string | null = null;
  private lastId = 0;
  private listeners = new Set<() => void>();

  constructor(private readonly name: string) {
    void readObject<QueuedChange[]>(name).then((stored = []) => {
      if (stored.length === 0) return;
      this.replace([...stored.map((change) => this.restored(change)), ...this.changes]);
      this.sendNext();
    });
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  add(change: Pick<QueuedChange, "text" | "attachments" | "selected" | "variants" | "models">): void {
    this.replace([...this.changes, { ...change, id: ++this.lastId, status: "waiting", reason: "" }]);
    this.sendNext();
  }

  /** Take a change out of the queue. One that is on its way stays. */
  remove(id: number): QueuedChange | null {
    const change = this.changes.find((candidate) => candidate.id === id);
    if (change === undefined || change.status === "sending") return null;
    this.replace(this.changes.filter((candidate) => candidate !== change));
    this.sendNext();
    return change;
  }

  sendAgain(id: number): void {
    this.update(id, { status: "waiting", reason: "" });
    this.sendNext();
  }

  /** Say how a change is sent to the version that is shown; null while that version cannot be changed. */
  allow(version: string, send: SendChange | null): void {
    if (version === this.pendingVersion) this.pendingVersion = null;
    this.send = this.pendingVersion === null ? send : null;
    this.sendNext();
  }

  /** Send nothing until the next call of `allow`. */
  hold(): void {
    this.send = null;
  }

  private sendNext(): void {
    const { send } = this;
    const change = this.changes[0];
    if (send === null || change === undefined || change.status !== "waiting") return;
    this.send = null; // the next one needs a version that includes this one
    this.update(change.id, { status: "sending" });
    const prompt = { ...changeOf(change.text, change.attachments), ...(change.selected === null ? {} : { selected: change.selected }) };
    send(prompt, change.variants, change.models ?? []).then(
      (version) => {
        this.pendingVersion = version;
        this.replace(this.changes.filter((candidate) => candidate.id !== change.id));
      },
      (error: unknown) => this.update(change.id, { status: "failed", reason: failureText(error) }),
    );
  }

  private update(id: number, state: Partial<QueuedChange>): void {
    this.replace(this.changes.map((change) => (change.id === id ? { ...change, ...state } : change)));
  }

  private replace(changes: readonly QueuedChange[]): void {
    this.changes = changes;
    void writeObject(this.name, changes);
    for (const listener of [...this.listeners]) listener();
  }

  private restored(change: QueuedChange): QueuedChange {
    const id = ++this.lastId;
    return change.status === "sending" ? { ...change, id, status: "failed", reason: INTERRUPTED } : { ...change, id };
  }
}

const queues = new Map<string, ChangeQueue>();
whenForgotten(() => queues.clear());

export function changeQueueOf(project: string): ChangeQueue {
  const queue = queues.get(project) ?? new ChangeQueue(`changes:${project}:${tabName()}`);
  queues.set(project, queue);
  return queue;
}
