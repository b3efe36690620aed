/** Sub-agents by the calls that they work for. Their events arrive live; what was missed is asked for. */

import type { HealdClient } from "../client.js";
import { ListenerMap } from "./listeners.js";
import type { Followed, LiveStore } from "./live_store.js";

/** Pause before a failed request is repeated, in ms. */
const RETRY = 2000;

interface DelegateRequest {
  visits: number;
  settled: Promise<void>;
}

export class DelegateIndex {
  private readonly sessions = new Map<string, string>();
  private readonly listeners = new ListenerMap();
  /** The last request for the sub-agents of each session, on this connection. */
  private readonly requests = new Map<string, DelegateRequest>();

  constructor(
    private readonly store: LiveStore,
    private readonly api: Pick<HealdClient["sessions"], "delegates">,
  ) {
    store.socket.onState(() => this.requests.clear());
  }

  /** The session that works for a call, as far as it is known. */
  sessionOf(call: string): string | undefined {
    return this.sessions.get(call);
  }

  add(call: string, session: string): void {
    if (this.sessions.get(call) === session) return;
    this.sessions.set(call, session);
    this.listeners.call(call);
  }

  forget(session: string): void {
    for (const [call, delegate] of this.sessions) if (delegate === session && !this.listeners.has(call)) this.sessions.delete(call);
  }

  /** Find the sub-agent of a call and complete its log, until the returned function is called. The listener is called at each change. */
  follow(parent: string, call: string, listener: () => void): () => void {
    let active = true;
    let task = "";
    let stopTask: () => void = () => undefined;
    let session: string | undefined;
    let unsubscribe: () => void = () => undefined;
    const update = () => {
      if (!active) return;
      const current = this.sessions.get(call);
      if (current !== session) {
        unsubscribe();
        session = current;
        unsubscribe = current === undefined ? () => undefined : this.store.subscribe(current, onChange);
      }
      const next = this.store.socket.state !== "open" ? "" : current === undefined ? "find" : this.store.isWhole(current) ? "" : `read ${current}`;
      if (next === task) return;
      stopTask();
      task = next;
      if (next === "") stopTask = () => undefined;
      else stopTask = retried(() => (current === undefined ? this.request(parent) : this.store.readMissing(current)));
    };
    const onChange = () => {
      update();
      listener();
    };
    const removers = [this.listeners.add(call, onChange), this.store.socket.onState(update)];
    update();
    return () => {
      active = false;
      stopTask();
      unsubscribe();
      for (const remove of removers) remove();
    };
  }

  at(call: string): Followed | undefined {
    const session = this.sessions.get(call);
    return session === undefined ? undefined : this.store.at(session);
  }

  /** Ask for the sub-agents of a session, once for all of its calls until the connection or what is followed changes. */
  private request(parent: string): Promise<void> {
    const last = this.requests.get(parent);
    if (last !== undefined && last.visits === this.store.visits) return last.settled;
    const settled = this.api.delegates(parent).then(
      ({ delegates }) => delegates.forEach((delegate) => this.add(delegate.call_id, delegate.session)),
      (error: unknown) => {
        if (this.requests.get(parent)?.settled === settled) this.requests.delete(parent); // a failure is not an answer
        throw error;
      },
    );
    this.requests.set(parent, { visits: this.store.visits, settled });
    return settled;
  }
}

/** Call `request` until it succeeds or the returned function is called. */
function retried(request: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let active = true;
  const attempt = () => {
    request().catch(() => {
      if (active) timer = setTimeout(attempt, RETRY);
    });
  };
  attempt();
  return () => {
    active = false;
    clearTimeout(timer);
  };
}
