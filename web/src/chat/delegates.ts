/**
 * Agents that worked for calls of a session. What they do is heard live; what was not heard, because the page was not
 * there or the connection was not, is read from their logs.
 */

import { useEffect, useReducer, useRef, useState } from "react";
import { useLive } from "../live/hooks";
import { Conversation } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { get, route } from "../wire/rest";
import type { EventSocket } from "../wire/socket";

type ByCall = ReadonlyMap<string, string>;

const PAGE = 1000;
const asked = new Map<string, Promise<ByCall>>();
const watched = new WeakSet<EventSocket>();

/** The sessions that worked for a session, by the call. It is asked once for each connection. */
function delegatesOf(session: string, socket: EventSocket): Promise<ByCall> {
  if (!watched.has(socket)) {
    watched.add(socket);
    socket.onState(() => asked.clear());
  }
  const known = asked.get(session);
  if (known !== undefined) return known;
  const found = get<{ delegates: { session: string; call: string }[] }>(route("sessions", session, "delegates")).then(
    ({ delegates }) => new Map(delegates.map((each) => [each.call, each.session])),
    () => new Map<string, string>(),
  );
  asked.set(session, found);
  return found;
}

/** Read on in a log, from where a conversation stands. */
async function readOn(conversation: Conversation): Promise<void> {
  for (;;) {
    const path = `${route("sessions", conversation.session, "log")}?after=${conversation.seq}&limit=${PAGE}`;
    const { events } = await get<{ events: LogEvent[] }>(path);
    for (const event of events) conversation.feed(event);
    if (events.length < PAGE) return;
  }
}

/** What an agent says and does for a call; null if none works for it. */
export function useDelegate(parent: string, call: string): Conversation | null {
  const live = useLive();
  const [, again] = useReducer((count: number) => count + 1, 0);
  const [stored, setStored] = useState<string | null>(null);
  const read = useRef<Conversation | null>(null);
  const reading = useRef(false);
  const session = live.delegateOf(call) ?? stored;
  const heard = session === null ? undefined : live.at(session)?.conversation;
  const whole = heard !== undefined && heard.events.length === heard.seq;
  useEffect(() => {
    if (session !== null) return live.listen(session, again);
    let current = true;
    void delegatesOf(parent, live.socket).then((found) => current && setStored(found.get(call) ?? null));
    return () => {
      current = false;
    };
  }, [live, parent, call, session]);
  const past = session === null || whole ? null : (read.current ??= new Conversation(session));
  for (const event of past === null ? [] : (heard?.events ?? [])) if (event.seq === (past?.seq ?? 0) + 1) past?.feed(event);
  const behind = past !== null && (past.seq === 0 || past.seq < (heard?.seq ?? 0));
  useEffect(() => {
    if (!behind || past === null || reading.current) return;
    reading.current = true;
    void readOn(past)
      .catch(() => undefined)
      .finally(() => {
        reading.current = false;
        again();
      });
  }, [behind, past, heard?.seq]);
  return whole ? heard : past;
}
