/**
 * Subagents of a session. Their events arrive live; events that the page missed are read from their logs.
 */

import { useEffect, useReducer, useRef, useState } from "react";
import { useLive } from "../live/hooks";
import { Conversation } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { get, route } from "../wire/rest";
import type { EventSocket } from "../wire/socket";

type ByCall = ReadonlyMap<string, string>;

const PAGE = 1000;
const requests = new Map<string, Promise<ByCall>>();
const watched = new WeakSet<EventSocket>();

/** The sessions of subagents by their call. Requested once for each connection. */
function delegatesOf(session: string, socket: EventSocket): Promise<ByCall> {
  if (!watched.has(socket)) {
    watched.add(socket);
    socket.onState(() => requests.clear());
  }
  const pending = requests.get(session);
  if (pending !== undefined) return pending;
  const request = get<{ delegates: { session: string; call_id: string }[] }>(route("sessions", session, "delegates")).then(
    ({ delegates }) => new Map(delegates.map((delegate) => [delegate.call_id, delegate.session])),
    () => new Map<string, string>(),
  );
  requests.set(session, request);
  return request;
}

/** Read the rest of a log, from the position of a conversation. */
async function readOn(conversation: Conversation): Promise<void> {
  for (;;) {
    const path = `${route("sessions", conversation.session, "log")}?after=${conversation.seq}&limit=${PAGE}`;
    const { events } = await get<{ events: LogEvent[] }>(path);
    for (const event of events) conversation.feed(event);
    if (events.length < PAGE) return;
  }
}

/** The conversation of the subagent that works for a call; null if there is none. */
export function useDelegate(parent: string, call: string): Conversation | null {
  const live = useLive();
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  const [stored, setStored] = useState<string | null>(null);
  const read = useRef<Conversation | null>(null);
  const reading = useRef(false);
  const session = live.delegateOf(call) ?? stored;
  const received = session === null ? undefined : live.at(session)?.conversation;
  const whole = received !== undefined && received.events.length === received.seq;
  useEffect(() => {
    if (session !== null) return live.listen(session, rerender);
    let current = true;
    void delegatesOf(parent, live.socket).then((sessions) => current && setStored(sessions.get(call) ?? null));
    return () => {
      current = false;
    };
  }, [live, parent, call, session]);
  const replay = session === null || whole ? null : (read.current ??= new Conversation(session));
  for (const event of replay === null ? [] : (received?.events ?? [])) if (event.seq === (replay?.seq ?? 0) + 1) replay?.feed(event);
  const behind = replay !== null && (replay.seq === 0 || replay.seq < (received?.seq ?? 0));
  useEffect(() => {
    if (!behind || replay === null || reading.current) return;
    reading.current = true;
    void readOn(replay)
      .catch(() => undefined)
      .finally(() => {
        reading.current = false;
        rerender();
      });
  }, [behind, replay, received?.seq]);
  return whole ? received : replay;
}
