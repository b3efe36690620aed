/**
 * The conversations that the page follows. Changes within a few frames are shown together.
 *
 * A conversation is folded from a log without gaps. Events of subagents arrive unasked and may begin in the middle of
 * their log: such a conversation is shown as it is, is never called complete, and is read from its first event as soon as
 * somebody follows it. Sessions that nobody looks at are forgotten, the oldest first.
 */

import { Conversation, fold } from "../log/conversation";
import type { LogEvent } from "../log/event";
import { restored, type Snapshot } from "../log/snapshot";
import type { ApiError } from "../wire/rest";
import type { EventSocket, Follower } from "../wire/socket";

export interface Followed {
  /** As far as it has been received. The end of a long log comes first. */
  conversation: Conversation;
  /** Whether everything that happened before the page followed it is here. */
  complete: boolean;
  error: ApiError | null;
}

/** Reads the events of a session's log after a seq; an empty page is the log's end. */
export type ReadLog = (session: string, after: number) => Promise<readonly LogEvent[]>;

/** Milliseconds between two renderings. Sessions that write at the same time are rendered together. */
const PACE = 40;
/** The same for a log that is still being read. */
const CATCHING_UP = 400;
/** The same for a page in the background. */
const UNSEEN = 250;
/** Sessions without a user that stay in memory, so that going back to one shows it at once. */
const IDLE_SESSIONS = 16;

export class Live {
  private followed = new Map<string, Followed>();
  /** The conversations from their first event on; what is followed may for a while show only the end of one. */
  private whole = new Map<string, Conversation>();
  /** Sessions whose conversation lacks events before or between those that were received. */
  private gaps = new Set<string>();
  private reading = new Map<string, Promise<void>>();
  private users = new Map<string, number>();
  private listeners = new Map<string, Set<() => void>>();
  private changed = new Set<string>();
  private shown = 0;
  private due = Infinity;
  private timer: number | undefined;
  /** Sessions that work for a call, by the call. */
  private delegates = new Map<string, string>();
  private callListeners = new Map<string, Set<() => void>>();
  /** Counts the sessions that were followed anew. What was asked of the server before may be out of date. */
  visits = 0;

  constructor(readonly socket: EventSocket) {
    socket.onStray = (session, events) => this.stray(session, events);
  }

  /** Follow a session until the returned function is called. Its events stay in memory for a while. */
  follow(session: string): () => void {
    const users = this.users.get(session) ?? 0;
    this.users.set(session, users + 1);
    if (users === 0) {
      this.visits += 1;
      if (this.gaps.has(session)) this.forget(session);
      this.stand(session);
      this.socket.follow(session, this.follower(session));
    }
    return () => {
      const left = (this.users.get(session) ?? 1) - 1;
      if (left > 0) {
        this.users.set(session, left);
        return;
      }
      this.users.delete(session);
      this.socket.unfollow(session);
      this.touch(session);
      this.evict();
    };
  }

  at(session: string): Followed | undefined {
    return this.followed.get(session);
  }

  /** Whether a conversation has every event from the first to the last one that was received. */
  isWhole(session: string): boolean {
    return !this.gaps.has(session) && (this.followed.get(session)?.conversation.seq ?? 0) > 0;
  }

  /** Read the events that a session lacks, unless it is followed. Events that arrive meanwhile are added behind them. */
  readMissing(session: string, read: ReadLog): Promise<void> {
    const running = this.reading.get(session);
    if (running !== undefined) return running;
    const reading = this.readWhole(session, read).finally(() => this.reading.delete(session));
    this.reading.set(session, reading);
    return reading;
  }

  private async readWhole(session: string, read: ReadLog): Promise<void> {
    if (this.isWhole(session) || this.users.has(session)) return;
    const conversation = new Conversation(session);
    for (let events = await read(session, 0); events.length > 0; events = await read(session, conversation.seq)) {
      events.reduce(fold, conversation);
    }
    if (this.users.has(session)) return; // the follower reads the log itself
    const received = this.whole.get(session)?.events ?? [];
    this.stand(session);
    this.whole.set(session, conversation);
    this.gaps.delete(session);
    this.add(session, received);
    const isWhole = !this.gaps.has(session);
    this.replace(session, { conversation, complete: isWhole });
    if (!isWhole) throw new Error(`Events of ${session} were missed while its log was read.`);
  }

  delegateOf(call: string): string | undefined {
    return this.delegates.get(call);
  }

  /** Record the sessions that work for calls. */
  addDelegates(sessions: ReadonlyMap<string, string>): void {
    for (const [call, session] of sessions) {
      if (this.delegates.get(call) === session) continue;
      this.delegates.set(call, session);
      for (const listener of this.callListeners.get(call) ?? []) listener();
    }
  }

  listen(session: string, listener: () => void): () => void {
    const remove = listening(this.listeners, session, listener);
    return () => {
      remove();
      this.evict();
    };
  }

  /** Call the listener when the session that works for a call becomes available. */
  listenToCall(call: string, listener: () => void): () => void {
    return listening(this.callListeners, call, listener);
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
        const all = this.all(session);
        // An event from further on came as one of a subagent; the subscription brings it a second time, in its place.
        for (const event of events) if (event.seq <= all.seq + 1) fold(all, event);
        if (!this.stand(session).complete && last >= 0 && all.seq >= last) this.caughtUp(session);
        const { conversation, complete } = this.stand(session);
        if (conversation === all) this.schedule(session, complete);
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
    this.schedule(session);
  }

  private stray(session: string, events: readonly LogEvent[]): void {
    const isNew = !this.followed.has(session);
    this.add(session, events);
    for (const event of events) {
      if (event.type === "exchange_request" && event.data.cause) this.addDelegates(new Map([[event.data.cause, session]]));
    }
    if (isNew) this.evict();
    this.schedule(session);
  }

  private add(session: string, events: readonly LogEvent[]): void {
    const all = this.all(session);
    for (const event of events) {
      if (event.seq > all.seq + 1) this.gaps.add(session);
      fold(all, event);
    }
  }

  /** Make a session the last one to be forgotten. */
  private touch(session: string): void {
    const followed = this.followed.get(session);
    if (followed === undefined) return;
    this.followed.delete(session);
    this.followed.set(session, followed);
  }

  private evict(): void {
    const idle = [...this.followed.keys()].filter((session) => !this.users.has(session) && !this.listeners.has(session));
    for (const session of idle.slice(0, Math.max(0, idle.length - IDLE_SESSIONS))) this.forget(session);
  }

  private forget(session: string): void {
    this.followed.delete(session);
    this.whole.delete(session);
    this.gaps.delete(session);
    for (const [call, delegate] of this.delegates) if (delegate === session && !this.callListeners.has(call)) this.delegates.delete(call);
  }

  private schedule(session: string, soon = true): void {
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

/** Add a listener to those of a name, until the returned function is called. */
function listening(all: Map<string, Set<() => void>>, name: string, listener: () => void): () => void {
  const listeners = all.get(name) ?? new Set();
  all.set(name, listeners);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && all.get(name) === listeners) all.delete(name);
  };
}
