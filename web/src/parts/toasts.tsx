/** Short words at the edge: what went wrong, and what was done. They are read out too. */

import { useEffect, useState } from "react";
import { ApiError } from "../wire/rest";
import { IconButton } from "./button";
import { Icon } from "./icon";

interface Toast {
  id: number;
  tone: "info" | "error";
  text: string;
}

let count = 0;
let listener: (toast: Toast) => void = () => undefined;

export function showToast(text: string, tone: Toast["tone"] = "info"): void {
  listener({ id: ++count, tone, text });
}

/** For promises whose failure is only worth a word. */
export function showFailure(error: unknown): void {
  showToast(error instanceof ApiError ? error.message : "That did not work.", "error");
}

export function Toasts() {
  const [toasts, setToasts] = useState<Toast[]>([]);
  useEffect(() => {
    listener = (toast) => {
      setToasts((now) => [...now.slice(-3), toast]);
      window.setTimeout(() => setToasts((now) => now.filter((other) => other.id !== toast.id)), toast.tone === "error" ? 9000 : 4000);
    };
  }, []);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <div key={toast.id} className={`toast ${toast.tone}`}>
          <Icon name={toast.tone === "error" ? "alert" : "check"} />
          <span className="grow">{toast.text}</span>
          <IconButton small icon="close" label="Dismiss" onClick={() => setToasts((now) => now.filter((other) => other.id !== toast.id))} />
        </div>
      ))}
    </div>
  );
}
