/** Short messages at the edge: what went wrong, and what was done. They are read out too. */

import { useEffect, useSyncExternalStore } from "react";
import { toasts as texts } from "../texts/parts";
import { ApiError } from "../wire/rest";
import { IconButton } from "./button";
import { Icon } from "./icon";

interface Toast {
  id: number;
  tone: "info" | "error";
  text: string;
}

/** Toasts that are shown at the same time. */
const MAX_TOASTS = 4;
/** How long a toast is shown, in ms. */
const DURATIONS = { info: 4000, error: 9000 } as const;

let count = 0;
let toasts: readonly Toast[] = [];
const listeners = new Set<() => void>();

function replaceToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function dismiss(id: number): void {
  replaceToasts(toasts.filter((toast) => toast.id !== id));
}

/** Shows a message. One that comes before the page has rendered waits for it. */
export function showToast(text: string, tone: Toast["tone"] = "info"): void {
  replaceToasts([...toasts.slice(1 - MAX_TOASTS), { id: ++count, tone, text }]);
}

/** Why something failed, in a sentence for a person. */
export function failureText(error: unknown): string {
  return error instanceof ApiError ? error.message : texts.thatDidNotWork;
}

/** Shows a rejected promise as a toast. */
export function showFailure(error: unknown): void {
  showToast(failureText(error), "error");
}

export function Toasts() {
  const current = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {current.map((toast) => (
        <Card key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function Card({ toast }: { toast: Toast }) {
  const { id, tone } = toast;
  useEffect(() => {
    const timer = window.setTimeout(() => dismiss(id), DURATIONS[tone]); // counted from when it can be read
    return () => window.clearTimeout(timer);
  }, [id, tone]);
  return (
    <div className={`toast ${tone}`}>
      <Icon name={tone === "error" ? "alert" : "check"} />
      <span className="grow">{toast.text}</span>
      <IconButton small icon="close" label={texts.dismiss} onClick={() => dismiss(id)} />
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
