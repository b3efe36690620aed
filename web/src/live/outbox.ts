/**
 * Messages that the server has not accepted yet, kept for the tab: after a reload they are sent with the ids that they
 * had, so that the server accepts each of them once. What they were written from is then taken out of its box.
 */

import type { OutgoingMessage, QueueEntry, QueueStorage } from "@heald/client";
import type { Attachment } from "../chat/attachments";
import { unsentAttachments, unsentText } from "../chat/unsent";
import { changeObject, changeText, PREFIX, readObject, tabName, writeObject } from "../parts/kept";

type Entries = readonly QueueEntry<OutgoingMessage>[];

/** What was in the box when a message was sent. */
export interface MessageDraft {
  /** The key under which the box keeps its text and attachments. */
  key: string;
  text: string;
  attachments: Pick<Attachment, "id">[];
}

const OUTBOX = `${PREFIX}outbox:`;

/** A storage that is written at once: a reload may follow. A message too large for it goes to the database of the browser. */
export function outboxStorage(session: string): QueueStorage<OutgoingMessage> {
  const name = OUTBOX + session;
  const large = `outbox:${session}:${tabName()}`;
  let isLarge = readEntries(name)?.length === 0;
  return {
    read: async () => {
      const stored = readEntries(name);
      return stored === null ? [] : stored.length > 0 ? stored : ((await readObject<Entries>(large)) ?? []);
    },
    write: (entries) => {
      try {
        if (entries.length === 0) sessionStorage.removeItem(name);
        else sessionStorage.setItem(name, JSON.stringify(entries));
        if (isLarge) void writeObject(large, []);
        isLarge = false;
      } catch {
        isLarge = true;
        storeLarge(name, large, entries);
      }
    },
  };
}

/** The sessions with messages that an earlier page of this tab has not sent. */
export function unsentSessions(): string[] {
  try {
    return Object.keys(sessionStorage).flatMap((name) => (name.startsWith(OUTBOX) ? [name.slice(OUTBOX.length)] : []));
  } catch {
    return [];
  }
}

/** Take what was sent out of the box that it was written in. */
export function clearDraft({ draft }: OutgoingMessage): void {
  if (draft === undefined) return;
  const { key, text, attachments } = draft as MessageDraft;
  changeText(key, (current) => unsentText(current, text));
  if (attachments.length > 0) void changeObject<Attachment[]>(key, (current) => unsentAttachments(current, attachments));
}

/** The stored entries; null if there are none, empty if they are in the database. */
function readEntries(name: string): Entries | null {
  try {
    const stored = sessionStorage.getItem(name);
    return stored === null ? null : (JSON.parse(stored) as Entries);
  } catch {
    return null;
  }
}

function storeLarge(name: string, large: string, entries: Entries): void {
  void writeObject(large, entries);
  try {
    sessionStorage.setItem(name, "[]");
  } catch {
    return; // without a storage the messages live as long as the page
  }
}
