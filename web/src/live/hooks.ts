/** What components read of the live conversations. */

import type { Connection, Conversation, Followed, LiveStore } from "@heald/client";
import { createContext, use, useCallback, useSyncExternalStore } from "react";
import { paced } from "./pace";

export const LiveContext = createContext<LiveStore | null>(null);

export function useLive(): LiveStore {
  const store = use(LiveContext);
  if (store === null) throw new Error("There is no connection here.");
  return store;
}

/** A session that is followed as long as the component is there. It renders at most once in `pause` milliseconds. */
export function useFollowed(session: string | null, pause = 0): Followed | null {
  const store = useLive();
  const subscribe = useCallback(
    (listener: () => void) => {
      if (session === null) return () => undefined;
      const rendering = paced(listener, pause);
      const leave = store.follow(session);
      const unsubscribe = store.subscribe(session, rendering.want);
      return () => {
        rendering.stop();
        unsubscribe();
        leave();
      };
    },
    [store, session, pause],
  );
  return useSyncExternalStore(subscribe, () => (session === null ? null : (store.at(session) ?? null)));
}

/** The conversation of the sub-agent that works for a call of `parent`; null if there is none. */
export function useDelegate(parent: string, call: string): Conversation | null {
  const { delegates } = useLive();
  const subscribe = useCallback((listener: () => void) => delegates.follow(parent, call, listener), [delegates, parent, call]);
  return useSyncExternalStore(subscribe, () => delegates.at(call) ?? null)?.conversation ?? null;
}

export function useConnection(): Connection {
  const { socket } = useLive();
  const subscribe = useCallback((listener: () => void) => socket.onState(listener), [socket]);
  return useSyncExternalStore(subscribe, () => socket.state);
}
