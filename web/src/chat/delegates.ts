/**
 * Subagents of a session. Their events arrive live; events that the page missed are read from their logs.
 */

import { useCallback, useEffect, useReducer, useSyncExternalStore } from "react";
import { useConnection, useLive } from "../live/hooks";
import type { Live } from "../live/live";
import type { Conversation } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { get, route } from "../wire/rest";

const PAGE = 1000;
/** Pause before a failed request is repeated, in ms. */
const RETRY = 2000;

interface Request {
  visits: number;
  settled: Promise<void>;
}

/** The last request for each session, of each connection. */
const requests = new WeakMap<Live, Map<string, Request>>();

function requestsOf(live: Live): Map<string, Request> {
  const existing = requests.get(live);
  if (existing !== undefined) return existing;
  const bySession = new Map<string, Request>();
  live.socket.onState(() => bySession.clear());
  requests.set(live, bySession);
  return bySession;
}

/** Ask for the subagents of a session, once for all of its calls until the connection or what is followed changes. */
function requestDelegates(session: string, live: Live): Promise<void> {
  const bySession = requestsOf(live);
  const last = bySession.get(session);
  if (last !== undefined && last.visits === live.visits) return last.settled;
  const settled = get<{ delegates: { session: string; call_id: string }[] }>(route("sessions", session, "delegates")).then(
    ({ delegates }) => live.addDelegates(new Map(delegates.map((delegate) => [delegate.call_id, delegate.session]))),
    (error: unknown) => {
      if (bySession.get(session)?.settled === settled) bySession.delete(session); // a failure is not an answer
      throw error;
    },
  );
  bySession.set(session, { visits: live.visits, settled });
  return settled;
}

async function readLog(session: string, after: number): Promise<readonly LogEvent[]> {
  return (await get<{ events: LogEvent[] }>(`${route("sessions", session, "log")}?after=${after}&limit=${PAGE}`)).events;
}

/** Call `request` until it succeeds or the returned function is called. */
function retried(request: () => Promise<void>): () => void {
  let timer: number | undefined;
  let active = true;
  const attempt = () => {
    request().catch(() => {
      if (active) timer = window.setTimeout(attempt, RETRY);
    });
  };
  attempt();
  return () => {
    active = false;
    window.clearTimeout(timer);
  };
}

/** The conversation of the subagent that works for a call; null if there is none. */
export function useDelegate(parent: string, call: string): Conversation | null {
  const live = useLive();
  const isOpen = useConnection() === "open";
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  const subscribe = useCallback((listener: () => void) => live.listenToCall(call, listener), [live, call]);
  const session = useSyncExternalStore(subscribe, () => live.delegateOf(call) ?? null);
  useEffect(() => {
    if (session !== null || !isOpen) return undefined;
    return retried(() => requestDelegates(parent, live));
  }, [live, parent, session, isOpen]);
  useEffect(() => (session === null ? undefined : live.listen(session, rerender)), [live, session]);
  const isMissing = session !== null && !live.isWhole(session);
  useEffect(() => {
    if (session === null || !isMissing || !isOpen) return undefined;
    return retried(() => live.readMissing(session, readLog));
  }, [live, session, isMissing, isOpen]);
  return session === null ? null : (live.at(session)?.conversation ?? null);
}
