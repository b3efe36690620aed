/** The end of a long log, to be shown while the rest of it is read. */

import { Conversation, fold } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { sessions } from "../wire/api";

/** Shorter logs are there at once. */
const LONG = 4_000;
const TAIL = 1_000;

/** What happened last in a session, from the beginning of an exchange on. Null if all of it comes as quickly. */
export async function endOf(session: string): Promise<Conversation | null> {
  try {
    const { last_seq: last } = await sessions.one(session);
    if (last < LONG) return null;
    const { events } = await sessions.log(session, last - TAIL, TAIL);
    return folded(session, events);
  } catch {
    return null;
  }
}

function folded(session: string, events: LogEvent[]): Conversation | null {
  const first = events.findIndex((event) => event.type === "exchange_request");
  if (first < 0) return null;
  return events.slice(first).reduce(fold, new Conversation(session));
}
