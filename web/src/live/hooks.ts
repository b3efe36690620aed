/** What components ask of the live conversations. */

import { createContext, use, useEffect, useReducer, useState } from "react";
import type { Connection } from "../wire/socket";
import type { Followed, Live } from "./live";

export const LiveContext = createContext<Live | null>(null);

export function useLive(): Live {
  const live = use(LiveContext);
  if (live === null) throw new Error("There is no connection here.");
  return live;
}

/** A session that is followed as long as the component is there. It renders at most once in `pause` milliseconds. */
export function useFollowed(session: string | null, pause = 0): Followed | null {
  const live = useLive();
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  useEffect(() => (session === null ? undefined : live.follow(session)), [live, session]);
  useEffect(() => {
    if (session === null) return undefined;
    const rendering = paced(rerender, pause);
    const deaf = live.listen(session, rendering.want);
    rerender();
    return () => {
      rendering.stop();
      deaf();
    };
  }, [live, session, pause]);
  return session === null ? null : (live.at(session) ?? null);
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

/** Something that is wanted often and done seldom: at once the first time, then at most once in a while. */
interface Paced {
  /** It is wanted. What is wanted before its time comes is done once, when it has come. */
  want(): void;
  stop(): void;
}

/** `pause` is the least time between two calls, in milliseconds. */
export function paced(call: () => void, pause: number): Paced {
  let timer: number | undefined;
  let last = -Infinity;
  const run = () => {
    timer = undefined;
    last = performance.now();
    call();
  };
  return {
    want: () => {
      if (timer !== undefined) return;
      const wait = last + pause - performance.now();
      if (wait <= 0) run();
      else timer = window.setTimeout(run, wait);
    },
    stop: () => {
      window.clearTimeout(timer);
      timer = undefined;
    },
  };
}
