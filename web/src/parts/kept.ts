/**
 * What a person has written and not sent yet. It is kept in this browser, so that neither a reload nor another view loses
 * it. Texts are kept for the tab and for the browser; pictures are too large for that and lie in a database of the browser.
 */

import { useCallback, useEffect, useRef, useState } from "react";

const PREFIX = "heald-kept:";
const values = new Map<string, unknown>();

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

/** A text under a key. Another key gives the text that is kept under that one. */
export function useKeptText(key: string, initial = ""): [string, (text: string) => void] {
  const [state, setState] = useState(() => ({ key, text: readText(key) || initial }));
  const current = state.key === key ? state.text : readText(key) || initial;
  const set = useCallback(
    (text: string) => {
      writeText(key, text);
      setState({ key, text });
    },
    [key],
  );
  return [current, set];
}

/** Any small value under a key, kept as JSON. */
export function useKeptValue<T>(key: string, initial: T): [T, (value: T) => void] {
  const [text, setText] = useKeptText(key);
  const parsed = useRef<{ text: string; value: T }>({ text: "", value: initial });
  if (text !== parsed.current.text) parsed.current = { text, value: text === "" ? initial : parse(text, initial) };
  const set = useCallback((value: T) => setText(JSON.stringify(value)), [setText]);
  return [parsed.current.value, set];
}

/** A large value under a key. It comes a moment after the first rendering if it was kept by an earlier page. */
export function useKeptObject<T>(key: string, initial: T): [T, (value: T) => void] {
  const [state, setState] = useState<{ key: string; value: T }>(() => ({ key, value: (values.get(key) as T | undefined) ?? initial }));
  const touched = useRef("");
  const current = state.key === key ? state.value : ((values.get(key) as T | undefined) ?? initial);
  useEffect(() => {
    if (values.has(key)) return undefined;
    let active = true;
    void readObject<T>(key).then((value) => {
      if (!active || value === undefined || touched.current === key) return;
      values.set(key, value);
      setState({ key, value });
    });
    return () => {
      active = false;
    };
  }, [key]);
  const set = useCallback(
    (value: T) => {
      touched.current = key;
      values.set(key, value);
      setState({ key, value });
      void writeObject(key, value);
    },
    [key],
  );
  return [current, set];
}

/** A name of this tab. A reload keeps it. */
export function tabName(): string {
  const key = `${PREFIX}tab`;
  try {
    const known = sessionStorage.getItem(key) ?? Math.random().toString(36).slice(2);
    sessionStorage.setItem(key, known);
    return known;
  } catch {
    return "";
  }
}

/** Forget everything, for somebody who signs out. */
export function forgetKept(): void {
  values.clear();
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

async function readObject<T>(key: string): Promise<T | undefined> {
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

async function writeObject(key: string, value: unknown): Promise<void> {
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
