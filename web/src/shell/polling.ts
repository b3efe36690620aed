/** Fetches a value of the server again while the page is seen: after a pause, or when something else has changed. */

import { useEffect, useRef } from "react";
import type { Fetched } from "./fetched";

/** Fetches again a pause (in milliseconds) after each answer, so that a slow server is not asked twice at once. Null pauses for good. */
export function usePolling<T>({ isFetching, reload }: Pick<Fetched<T>, "isFetching" | "reload">, pause: number | null): void {
  useEffect(() => {
    if (isFetching || pause === null) return undefined;
    const look = () => {
      if (document.hidden) timer = window.setTimeout(look, pause);
      else reload();
    };
    let timer = window.setTimeout(look, pause);
    return () => window.clearTimeout(timer);
  }, [isFetching, reload, pause]);
}

/** Fetches again when the state is another one than at the last fetch. */
export function useReloadOn<T>({ reload }: Pick<Fetched<T>, "reload">, state: string): void {
  const last = useRef(state);
  useEffect(() => {
    if (last.current === state) return;
    last.current = state;
    reload();
  }, [reload, state]);
}
