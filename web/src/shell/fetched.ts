/** A value of the server: fetched when it is needed, on `reload`, and after a lost connection. */

import { useCallback, useEffect, useEffectEvent, useState } from "react";
import { useConnection } from "../live/hooks";
import { ApiError } from "../wire/rest";

/** Pause before a failed request is repeated, in ms, while there is a connection. */
const RETRY = 2000;

export interface Fetched<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  reload(): void;
  set(value: T): void;
  /** Change the value that is there, if there is one. */
  change(change: (value: T) => T): void;
}

/** Fetches whenever `key` changes. Null fetches nothing. */
export function useFetched<T>(key: string | null, fetch: () => Promise<T>): Fetched<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; error: ApiError | null }>({ key: null, value: null, error: null });
  const [count, setCount] = useState(0);
  const request = useEffectEvent(fetch); // it is made anew with every render; the key says when it means something else
  useEffect(() => {
    if (key === null) return undefined;
    let current = true;
    request().then(
      (value) => current && setState({ key, value, error: null }),
      (error: unknown) => {
        if (!current) return;
        const failure = asApiError(error);
        // The last value stays while the server cannot be reached.
        setState((now) => ({ key, value: failure.status === 0 && now.key === key ? now.value : null, error: failure }));
      },
    );
    return () => {
      current = false;
    };
  }, [key, count]);
  const reload = useCallback(() => setCount((now) => now + 1), []);
  const connection = useConnection();
  const unreached = state.error?.code === "unreachable" && connection === "open";
  useEffect(() => {
    if (!unreached) return undefined;
    const timer = window.setTimeout(reload, RETRY);
    return () => window.clearTimeout(timer);
  }, [unreached, state, reload]);
  const set = useCallback((value: T) => setState({ key, value, error: null }), [key]);
  const change = useCallback(
    (next: (value: T) => T) => setState((now) => (now.key === key && now.value !== null ? { ...now, value: next(now.value) } : now)),
    [key],
  );
  const fresh = state.key === key;
  return { value: fresh ? state.value : null, error: fresh ? state.error : null, loading: key !== null && !fresh, reload, set, change };
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "internal", "The page could not read the server's answer.");
}
