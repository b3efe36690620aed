/**
 * The changes of a project that are still to be sent, in their order and one at a time. Each is sent once, when the variant
 * that it waits for is done; one that fails stays, with those behind it, until a person decides.
 *
 * The queue is outside of React, so that neither a rendering nor another view sends a change twice or loses one. It is kept
 * for the tab: another tab must not send the same change.
 */

import { type QueueEntry, SendQueue } from "@heald/client";
import type { Attachment } from "../chat/attachments";
import { readObject, tabName, whenForgotten, writeObject } from "../parts/kept";
import { changeQueue as texts } from "../texts/project";
import type { Prompt } from "../wire/api";
import { changeOf } from "./prompt";

export interface ChangeRequest {
  text: string;
  attachments: Attachment[];
  selected: NonNullable<Prompt["selected"]> | null;
  variants: number;
  /** The models of its variants. */
  models: readonly string[];
}

export type QueuedChange = QueueEntry<ChangeRequest>;

/** Sends a change and returns the name of the version that it made. */
export type SendChange = (prompt: Prompt, variants: number, models: readonly string[]) => Promise<string>;

export class ChangeQueue {
  readonly outbox: SendQueue<ChangeRequest>;
  private send: SendChange | null = null;
  /** The version that the last change made: the next one is made in it, and so waits until it is shown. */
  private pendingVersion: string | null = null;

  constructor(name: string) {
    this.outbox = new SendQueue({
      isOpen: false,
      send: ({ content }) => this.sendChange(content),
      storage: {
        read: async () => (await readObject<QueuedChange[]>(name)) ?? [],
        write: (changes) => void writeObject(name, changes),
      },
    });
  }

  /** Say how a change is sent to the version that is shown; null while that version cannot be changed. */
  allow(version: string, send: SendChange | null): void {
    if (version === this.pendingVersion) this.pendingVersion = null;
    this.send = this.pendingVersion === null ? send : null;
    if (this.send === null) this.outbox.hold();
    else this.outbox.open();
  }

  /** Send nothing until the next call of `allow`. */
  hold(): void {
    this.send = null;
    this.outbox.hold();
  }

  private async sendChange(change: ChangeRequest): Promise<void> {
    const { send } = this;
    if (send === null) throw new Error(texts.theVersionThatIsShown);
    this.hold();
    const prompt = { ...changeOf(change.text, change.attachments), ...(change.selected === null ? {} : { selected: change.selected }) };
    this.pendingVersion = await send(prompt, change.variants, change.models);
    this.hold(); // the next one needs a version that includes this one
  }
}

const queues = new Map<string, ChangeQueue>();
whenForgotten(() => queues.clear());

export function changeQueueOf(project: string): ChangeQueue {
  const queue = queues.get(project) ?? new ChangeQueue(`outbox:${project}:${tabName()}`);
  queues.set(project, queue);
  return queue;
}
