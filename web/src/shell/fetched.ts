/** A value of the server: fetched when it is needed, on `reload`, and after a lost connection. Components with one key share it. */

import { useCallback, useEffect } from "react";
import useSWR, { type Cache, type State, useSWRConfig } from "swr";
import { useConnection } from "../live/hooks";
import { fetched as texts } from "../texts/shell";
import { ApiError } from "../wire/rest";

/** Pause before a failed request is repeated, in ms, while there is a connection. */
const RETRY = 2000;
/** Values in memory. A page shows a few dozen at a time. */
const MOST = 300;

export interface Fetched<T> {
  value: T | null;
  error: ApiError | null;
  loading: boolean;
  /** Whether a request is on its way. */
  readonly isFetching: boolean;
  reload(): void;
  set(value: T): void;
  /** Change the value that is there, if there is one. */
  change(change: (value: T) => T): void;
}

interface Options {
  /** Show the value of the last key while that of another key is fetched. */
  keepsLast?: boolean;
  /** Forget the value with the component: an old state of it would be misleading. */
  isVolatile?: boolean;
  /** The key names a state that never changes: a value that is there is not fetched again. */
  isFixed?: boolean;
  /** Another component fetches it: this one shows what is there. */
  isPassive?: boolean;
}

const SETTINGS = {
  dedupingInterval: 0, // requests that are on their way are shared; what was answered before may be out of date
  revalidateOnFocus: false,
  revalidateOnReconnect: false, // the server may be on this machine: the page's own connection says when it is there
  shouldRetryOnError: false,
} as const;

/** Fetches whenever `key` changes. Null fetches nothing. A key names one thing of the server in all of the page. */
export function useFetched<T>(key: string | null, fetch: () => Promise<T>, { keepsLast = false, isVolatile = false, isFixed = false, isPassive = false }: Options = {}): Fetched<T> {
  const { cache, mutate } = useSWRConfig();
  const answer = useSWR<T, ApiError>(key, () => fetch().catch(raiseApiError), {
    ...SETTINGS,
    keepPreviousData: keepsLast,
    revalidateIfStale: !isFixed && !isPassive,
    ...(isPassive ? { revalidateOnMount: false } : {}),
  });
  const error = answer.error ?? null;
  const reload = useCallback(() => void mutate(key), [mutate, key]);
  const unreached = useConnection() === "open" && error?.code === "unreachable";
  useEffect(() => {
    if (!unreached) return undefined;
    const timer = window.setTimeout(reload, RETRY);
    return () => window.clearTimeout(timer);
  }, [unreached, error, reload]);
  useEffect(() => (isVolatile && key !== null ? () => cache.delete(key) : undefined), [cache, key, isVolatile]);
  const set = useCallback((value: T) => void mutate(key, value, { revalidate: false }), [mutate, key]);
  const change = useCallback(
    (next: (value: T) => T) => {
      const value = cache.get(key ?? "")?.data as T | undefined;
      if (value !== undefined) void mutate(key, next(value), { revalidate: false });
    },
    [cache, mutate, key],
  );
  // The last value stays while the server cannot be reached.
  const value = error === null || error.status === 0 ? (answer.data ?? null) : null;
  return {
    value,
    error,
    loading: key !== null && !isPassive && answer.data === undefined && error === null,
    get isFetching() {
      return answer.isValidating; // a component that reads it renders when it changes
    },
    reload,
    set,
    change,
  };
}

function raiseApiError(error: unknown): never {
  throw error instanceof ApiError ? error : new ApiError(0, "internal", texts.thePageCouldNotRead);
}

/** What was fetched, without the values that were not used for the longest time. */
export class FetchCache implements Cache<unknown> {
  private readonly states = new Map<string, State<unknown>>();

  keys(): IterableIterator<string> {
    return this.states.keys();
  }

  get(key: string): State<unknown> | undefined {
    const state = this.states.get(key);
    if (state !== undefined) this.touch(key, state);
    return state;
  }

  set(key: string, state: State<unknown>): void {
    this.touch(key, state);
    const [oldest] = this.states.keys();
    if (this.states.size > MOST && oldest !== undefined) this.states.delete(oldest);
  }

  delete(key: string): void {
    this.states.delete(key);
  }

  private touch(key: string, state: State<unknown>): void {
    this.states.delete(key);
    this.states.set(key, state);
  }
}
