/** The conversations that the page follows. What changes within a few frames is told at once. */

import { Conversation, fold } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { restored, type Snapshot } from "../log/snapshot";
import type { ApiError } from "../wire/rest";
import type { EventSocket, Follower } from "../wire/socket";

export interface Followed {
  /** As far as it is known. Of a long log the end comes first. */
  conversation: Conversation;
  /** Whether all that had happened before we came is here. */
  complete: boolean;
  error: ApiError | null;
}

/** Milliseconds between two showings. Many sessions that write at once are shown together, and no eye reads faster. */
const PACE = 40;
/** The same for a log that is still being read. */
const CATCHING_UP = 400;
/** The same for a page that nobody looks at. */
const UNSEEN = 250;

export class Live {
  private followed = new Map<string, Followed>();
  /** The conversations from their first event on; what is followed may for a while show only the end of one. */
  private whole = new Map<string, Conversation>();
  private users = new Map<string, number>();
  private listeners = new Map<string, Set<() => void>>();
  private changed = new Set<string>();
  private shown = 0;
  private due = Infinity;
  private timer: number | undefined;
  /** Sessions that work for a call, by the call. */
  private delegates = new Map<string, string>();

  constructor(readonly socket: EventSocket) {
    socket.onStray = (session, events) => this.stray(session, events);
  }

  /** Follow a session until the returned function is called. Its events stay in memory. */
  follow(session: string): () => void {
    const users = this.users.get(session) ?? 0;
    this.users.set(session, users + 1);
    if (users === 0) {
      this.stand(session);
      this.socket.follow(session, this.follower(session));
    }
    return () => {
      const left = (this.users.get(session) ?? 1) - 1;
      this.users.set(session, left);
      if (left === 0) this.socket.unfollow(session);
    };
  }

  at(session: string): Followed | undefined {
    return this.followed.get(session);
  }

  delegateOf(call: string): string | undefined {
    return this.delegates.get(call);
  }

  listen(session: string, listener: () => void): () => void {
    const listeners = this.listeners.get(session) ?? new Set();
    this.listeners.set(session, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  private stand(session: string): Followed {
    const existing = this.followed.get(session);
    if (existing !== undefined) return existing;
    const conversation = new Conversation(session);
    const followed: Followed = { conversation, complete: false, error: null };
    this.whole.set(session, conversation);
    this.followed.set(session, followed);
    return followed;
  }

  private all(session: string): Conversation {
    this.stand(session);
    return this.whole.get(session) ?? new Conversation(session);
  }

  private caughtUp(session: string): void {
    this.replace(session, { conversation: this.all(session), complete: true });
  }

  private follower(session: string): Follower {
    let last = -1;
    return {
      cursor: () => this.all(session).seq,
      events: (events) => {
        const all = events.reduce(fold, this.all(session));
        if (!this.stand(session).complete && last >= 0 && all.seq >= last) this.caughtUp(session);
        const { conversation, complete } = this.stand(session);
        if (conversation === all) this.showToast(session, complete);
      },
      end: (events) => {
        const { complete, conversation } = this.stand(session);
        if (complete || conversation !== this.all(session)) return;
        this.replace(session, { conversation: events.reduce(fold, new Conversation(session)) });
      },
      reset: (snapshot: Snapshot, seq: number) => {
        this.whole.set(session, restored(session, snapshot, seq));
        this.caughtUp(session);
      },
      caughtUp: (seq) => {
        last = seq;
        if (this.all(session).seq >= seq) this.caughtUp(session);
      },
      failed: (error) => this.replace(session, { error, complete: true }),
    };
  }

  private replace(session: string, change: Partial<Followed>): void {
    this.followed.set(session, { ...this.stand(session), ...change });
    this.showToast(session);
  }

  private stray(session: string, events: readonly LogEvent[]): void {
    events.reduce(fold, this.all(session));
    for (const event of events) {
      if (event.type === "exchange_request" && event.data.cause) this.delegates.set(event.data.cause, session);
    }
    this.showToast(session);
  }

  private showToast(session: string, soon = true): void {
    this.changed.add(session);
    const pause = document.visibilityState !== "visible" ? UNSEEN : soon ? PACE : CATCHING_UP;
    const due = soon ? this.shown + pause : performance.now() + pause;
    if (due >= this.due) return;
    this.due = due;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.show(), Math.max(0, due - performance.now()));
  }

  /** With the next frame, if there are any. */
  private show(): void {
    if (document.visibilityState === "visible") requestAnimationFrame(() => this.flush());
    else this.flush();
  }

  private flush(): void {
    this.due = Infinity;
    this.shown = performance.now();
    const changed = [...this.changed];
    this.changed.clear();
    for (const session of changed) for (const listener of this.listeners.get(session) ?? []) listener();
  }
}
