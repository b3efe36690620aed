/** Components in a page, for tests that look at what they render. */

import { act, type ReactNode, StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { SWRConfig } from "swr";
import { afterEach, vi } from "vitest";
import { FetchCache } from "../src/shell/fetched";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const roots: { root: Root; box: HTMLElement }[] = [];

export interface Mounted {
  box: HTMLElement;
  render(element: ReactNode): Promise<void>;
  unmount(): Promise<void>;
}

export async function mount(element: ReactNode): Promise<Mounted> {
  const box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box, { onCaughtError: () => undefined });
  roots.push({ root, box });
  const fetches = { provider: () => new FetchCache() };
  const render = (next: ReactNode) =>
    act(async () =>
      root.render(
        <StrictMode>
          <SWRConfig value={fetches}>{next}</SWRConfig>
        </StrictMode>,
      ),
    );
  await render(element);
  return { box, render, unmount: () => act(async () => root.unmount()) };
}

afterEach(async () => {
  for (const { root, box } of roots.splice(0)) {
    await act(async () => root.unmount());
    box.remove();
  }
});

/** Write into a field as a person does. */
export async function write(field: Element | null, text: string): Promise<void> {
  if (!(field instanceof HTMLTextAreaElement)) throw new Error("There is no field to write in.");
  const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
  await act(async () => {
    set?.call(field, text);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

export async function press(element: Element | null, key: string): Promise<void> {
  if (element === null) throw new Error(`There is nothing to press ${key} in.`);
  await act(async () => {
    element.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  });
}

export async function click(element: Element | null): Promise<void> {
  if (!(element instanceof HTMLElement)) throw new Error("There is nothing to click.");
  await act(async () => element.click());
}

/** A promise that a test settles. */
export interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): Promise<void>;
  reject(error: unknown): Promise<void>;
}

export function deferred<T>(): Deferred<T> {
  let settle: { resolve(value: T): void; reject(error: unknown): void } = { resolve: () => undefined, reject: () => undefined };
  const promise = new Promise<T>((resolve, reject) => (settle = { resolve, reject }));
  return {
    promise,
    resolve: (value) => act(async () => settle.resolve(value)),
    reject: (error) => act(async () => settle.reject(error)),
  };
}

/** A WebSocket whose server never says anything by itself. */
export class SilentSocket {
  static OPEN = 1;
  static sockets: SilentSocket[] = [];
  readyState = 0;
  sent: Record<string, unknown>[] = [];
  onopen: () => void = () => undefined;
  onmessage: (message: { data: string }) => void = () => undefined;
  onclose: (close: { code: number }) => void = () => undefined;

  constructor() {
    SilentSocket.sockets.push(this);
  }

  static use(): void {
    SilentSocket.sockets = [];
    vi.stubGlobal("WebSocket", SilentSocket);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>);
  }

  close(): void {
    this.readyState = 3;
  }

  open(): Promise<void> {
    return act(async () => {
      this.readyState = 1;
      this.onopen();
    });
  }

  say(data: unknown): Promise<void> {
    return act(async () => this.onmessage({ data: JSON.stringify(data) }));
  }
}
