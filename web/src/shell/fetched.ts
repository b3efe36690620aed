/** Something the server has, fetched when it is needed, again when asked to, and again if the server could not be reached. */

import { useCallback, useEffect, useState } from "react";
import { useConnection } from "../live/hooks";
import { ApiError } from "../wire/rest";

/** Milliseconds before what could not be fetched is fetched again, while there is a connection. */
const RETRY = 2000;

export interface Fetched<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  again(): void;
  set(value: T): void;
}

/** `key` says what is fetched: with another key it is fetched again. Null fetches nothing. */
export function useFetched<T>(key: string | null, fetch: () => Promise<T>): Fetched<T> {
  const [state, setState] = useState<{ key: string | null; value: T | null; error: ApiError | null }>({ key: null, value: null, error: null });
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (key === null) return undefined;
    let current = true;
    fetch().then(
      (value) => current && setState({ key, value, error: null }),
      (error: unknown) => {
        if (!current) return;
        const found = asApiError(error);
        // What is shown stays while the server is away.
        setState((now) => ({ key, value: found.status === 0 && now.key === key ? now.value : null, error: found }));
      },
    );
    return () => {
      current = false;
    };
    // `fetch` is made anew with every render; the key says when it means something else.
  }, [key, count]);
  const again = useCallback(() => setCount((now) => now + 1), []);
  const connection = useConnection();
  const unreached = state.error?.code === "unreachable" && connection === "open";
  useEffect(() => {
    if (!unreached) return undefined;
    const timer = window.setTimeout(again, RETRY);
    return () => window.clearTimeout(timer);
  }, [unreached, state, again]);
  const set = useCallback((value: T) => setState({ key, value, error: null }), [key]);
  const fresh = state.key === key;
  return { value: fresh ? state.value : null, error: fresh ? state.error : null, loading: key !== null && !fresh, again, set };
}

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, "internal", "The page could not read the server's answer.");
}
