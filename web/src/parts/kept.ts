/**
 * What a person has written and not sent yet. It is kept in this browser, so that neither a reload nor another view loses
 * it. Texts are kept for the tab and for the browser; pictures are too large for that and lie in a database of the browser.
 */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";

/** The next value, or how it follows from the current one: what a person wrote meanwhile is then not overwritten. */
export type Change<T> = T | ((current: T) => T);

export const PREFIX = "heald-kept:";
const values = new Map<string, unknown>();
/** The texts that this tab shows. Another tab may have written another text under the same key. */
const texts = new Map<string, string>();
const listeners = new Map<string, Set<() => void>>();

function listen(key: string, listener: () => void): () => void {
  const others = listeners.get(key) ?? new Set();
  listeners.set(key, others);
  others.add(listener);
  return () => {
    others.delete(listener);
    if (others.size > 0) return;
    listeners.delete(key);
    texts.delete(key);
  };
}

/** A text and an object may have the same key. */
function objectName(key: string): string {
  return `object ${key}`;
}

function notify(key: string): void {
  for (const listener of [...(listeners.get(key) ?? [])]) listener();
}

function applied<T>(change: Change<T>, current: T): T {
  return typeof change === "function" ? (change as (current: T) => T)(current) : change;
}

export function readText(key: string): string {
  const name = PREFIX + key;
  try {
    return sessionStorage.getItem(name) ?? localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

export function writeText(key: string, text: string): void {
  const name = PREFIX + key;
  for (const storage of [sessionStorage, localStorage]) {
    try {
      if (text === "") storage.removeItem(name);
      else storage.setItem(name, text);
    } catch {
      // The storage is full or switched off: the text lives as long as the page.
    }
  }
}

/** Change a text that is kept under a key, wherever it is shown. */
export function changeText(key: string, change: Change<string>, initial = ""): void {
  const text = applied(change, texts.get(key) ?? (readText(key) || initial));
  writeText(key, text);
  if (listeners.has(key)) texts.set(key, text);
  notify(key);
}

/** A text under a key. Another key gives the text that is kept under that one. */
export function useKeptText(key: string, initial = ""): [string, (change: Change<string>) => void] {
  const [state, setState] = useState(() => ({ key, text: readText(key) || initial }));
  const current = state.key === key ? state.text : readText(key) || initial;
  useEffect(() => {
    if (!texts.has(key)) texts.set(key, readText(key) || initial);
    const update = () => setState((now) => ({ key, text: texts.get(key) ?? (now.key === key ? now.text : initial) }));
    update();
    return listen(key, update);
  }, [key, initial]);
  const set = useCallback((change: Change<string>) => changeText(key, change, initial), [key, initial]);
  return [current, set];
}

/** Any small value under a key, kept as JSON. */
export function useKeptValue<T>(key: string, initial: T): [T, (change: Change<T>) => void] {
  const [text, setText] = useKeptText(key);
  const [first] = useState(initial);
  const value = useMemo(() => (text === "" ? first : parse(text, first)), [text, first]);
  const set = useCallback(
    (change: Change<T>) => setText((now) => JSON.stringify(applied(change, now === "" ? first : parse(now, first)))),
    [setText, first],
  );
  return [value, set];
}

/** A large value under a key. It comes a moment after the first rendering if it was kept by an earlier page. */
export function useKeptObject<T>(key: string, initial: T): [T, (change: Change<T>) => void] {
  const [first] = useState(initial);
  const [state, setState] = useState<{ key: string; value: T }>(() => ({ key, value: (values.get(key) as T | undefined) ?? initial }));
  const touched = useRef("");
  const current = state.key === key ? state.value : ((values.get(key) as T | undefined) ?? first);
  useEffect(() => {
    const deafen = listen(objectName(key), () => setState({ key, value: (values.get(key) as T | undefined) ?? first }));
    if (values.has(key)) return deafen;
    let active = true;
    void readObject<T>(key).then((value) => {
      if (!active || value === undefined || touched.current === key) return;
      values.set(key, value);
      setState({ key, value });
    });
    return () => {
      active = false;
      deafen();
    };
  }, [key, first]);
  const set = useCallback(
    (change: Change<T>) => {
      touched.current = key;
      const value = applied(change, (values.get(key) as T | undefined) ?? first);
      values.set(key, value);
      notify(objectName(key));
      void writeObject(key, value);
    },
    [key, first],
  );
  return [current, set];
}

/** Change a large value that is kept under a key, if there is one. */
export async function changeObject<T>(key: string, change: (current: T) => T): Promise<void> {
  const current = (values.get(key) as T | undefined) ?? (await readObject<T>(key));
  if (current === undefined) return;
  const value = change(current);
  values.set(key, value);
  notify(objectName(key));
  await writeObject(key, value);
}

/** A name of this tab. A reload keeps it. */
export function tabName(): string {
  const key = `${PREFIX}tab`;
  try {
    const name = sessionStorage.getItem(key) ?? Math.random().toString(36).slice(2);
    sessionStorage.setItem(key, name);
    return name;
  } catch {
    return "";
  }
}

const forgetters = new Set<() => void>();

/** Call the listener when everything is forgotten. */
export function whenForgotten(listener: () => void): void {
  forgetters.add(listener);
}

/** Forget everything, for somebody who signs out. */
export function forgetKept(): void {
  values.clear();
  texts.clear();
  for (const forget of forgetters) forget();
  for (const storage of [sessionStorage, localStorage]) {
    for (const name of Object.keys(storage)) if (name.startsWith(PREFIX)) storage.removeItem(name);
  }
  indexedDB.deleteDatabase(DATABASE);
}

function parse<T>(text: string, initial: T): T {
  try {
    return JSON.parse(text) as T;
  } catch {
    return initial;
  }
}

const DATABASE = "heald-kept";
const STORE = "values";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("unavailable"));
  });
}

export async function readObject<T>(key: string): Promise<T | undefined> {
  try {
    const database = await open();
    return await new Promise((resolve) => {
      const request = database.transaction(STORE).objectStore(STORE).get(key);
      request.onsuccess = () => resolve(request.result as T | undefined);
      request.onerror = () => resolve(undefined);
      request.transaction?.addEventListener("complete", () => database.close());
    });
  } catch {
    return undefined;
  }
}

export async function writeObject(key: string, value: unknown): Promise<void> {
  try {
    const database = await open();
    const change = database.transaction(STORE, "readwrite");
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (isEmpty) change.objectStore(STORE).delete(key);
    else change.objectStore(STORE).put(value, key);
    change.oncomplete = () => database.close();
  } catch {
    // Without a database the value lives as long as the page.
  }
}
