/** The conversations that the page follows. All changes of one frame are told at once. */

import { Conversation, fold } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { restored, type Snapshot } from "../log/snapshot";
import type { ApiError } from "../wire/rest";
import type { Follower, Socket } from "../wire/socket";
import { endOf } from "./end";

export interface Followed {
  /** As far as it is known. Of a long log the end comes first. */
  conversation: Conversation;
  /** Whether all that had happened before we came is here. */
  complete: boolean;
  error: ApiError | null;
}

/** How often a log that is still being read is shown, in milliseconds. */
const CATCHING_UP = 400;

export class Live {
  private followed = new Map<string, Followed>();
  /** The conversations from their first event on; what is followed may for a while show only the end of one. */
  private whole = new Map<string, Conversation>();
  private users = new Map<string, number>();
  private listeners = new Map<string, Set<() => void>>();
  private changed = new Set<string>();
  private due = false;
  /** Sessions that work for a call, by the call. */
  private delegates = new Map<string, string>();

  constructor(readonly socket: Socket) {
    socket.onStray = (session, events) => this.stray(session, events);
  }

  /** Follow a session until the returned function is called. What was heard of it is kept. */
  follow(session: string): () => void {
    const users = this.users.get(session) ?? 0;
    this.users.set(session, users + 1);
    if (users === 0) {
      const known = this.whole.has(session);
      this.stand(session);
      this.socket.follow(session, this.follower(session));
      if (!known) void endOf(session).then((end) => this.showEnd(session, end));
    }
    return () => {
      const left = (this.users.get(session) ?? 1) - 1;
      this.users.set(session, left);
      if (left === 0) this.socket.leave(session);
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
    const known = this.followed.get(session);
    if (known !== undefined) return known;
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

  private showEnd(session: string, end: Conversation | null): void {
    const followed = this.followed.get(session);
    if (end === null || followed === undefined || followed.complete || followed.conversation.seq >= end.seq) return;
    this.replace(session, { conversation: end });
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
        if (conversation === all) this.tell(session, complete);
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
    this.tell(session);
  }

  private stray(session: string, events: readonly LogEvent[]): void {
    events.reduce(fold, this.all(session));
    for (const event of events) {
      if (event.type === "exchange_request" && event.data.cause) this.delegates.set(event.data.cause, session);
    }
    this.tell(session);
  }

  private tell(session: string, soon = true): void {
    this.changed.add(session);
    if (this.due) return;
    this.due = true;
    const flush = () => this.flush();
    if (!soon) window.setTimeout(flush, CATCHING_UP);
    else if (document.visibilityState === "visible") requestAnimationFrame(flush);
    else window.setTimeout(flush, 250);
  }

  private flush(): void {
    this.due = false;
    const changed = [...this.changed];
    this.changed.clear();
    for (const session of changed) for (const listener of this.listeners.get(session) ?? []) listener();
  }
}
