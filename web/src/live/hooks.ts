/** What components ask of the live conversations. */

import { createContext, use, useCallback, useEffect, useReducer, useState } from "react";
import type { Conversation } from "../log/conversation";
import type { Connection } from "../wire/socket";
import type { Followed, Live } from "./live";

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = use(LiveContext);
  if (live === null) throw new Error("There is no connection here.");
  return live;
}

/** A session that is followed as long as the component is there. It renders at most once a frame. */
export function useFollowed(session: string | null): Followed | null {
  const live = useLive();
  const [, again] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (session === null) return undefined;
    const deaf = live.listen(session, again);
    const leave = live.follow(session);
    again();
    return () => {
      deaf();
      leave();
    };
  }, [live, session]);
  return session === null ? null : (live.at(session) ?? null);
}

/** A part of a conversation; renders only when that part changes. */
export function useOf<T>(session: string, select: (conversation: Conversation) => T): T | null {
  const live = useLive();
  const read = useCallback(() => {
    const followed = live.at(session);
    return followed === undefined ? null : select(followed.conversation);
  }, [live, session, select]);
  const [value, set] = useState(read);
  useEffect(() => {
    set(() => read());
    const deaf = live.listen(session, () => set(() => read()));
    const leave = live.follow(session);
    return () => {
      deaf();
      leave();
    };
  }, [live, session, read]);
  return value;
}

export function useConnection(): Connection {
  const { socket } = useLive();
  const [state, set] = useState(socket.state);
  useEffect(() => {
    set(socket.state);
    return socket.onState(set);
  }, [socket]);
  return state;
}
