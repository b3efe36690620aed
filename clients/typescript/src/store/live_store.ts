/**
 * The conversations that a program follows, without a framework. `at` returns a value that is replaced when it changes,
 * and `subscribe` calls back at changes, as `useSyncExternalStore` of React expects it.
 *
 * A conversation is folded from a log without gaps. Events of sub-agents arrive without a subscription and may begin in
 * the middle of their log: such a conversation is shown as it is, is never called complete, and is read from its first
 * event as soon as somebody follows it. Sessions that nobody follows are forgotten, the oldest first.
 */

import type { HealdClient } from "../client.js";
import type { Content } from "../content.js";
import type { LogEvent } from "../events.js";
import { ApiError } from "../http.js";
import { Conversation, fold } from "../log/conversation.js";
import type { WhenBusy } from "../sessions.js";
import { restoreConversation } from "../snapshot.js";
import type { EventSocket, Follower } from "../socket.js";
import { DelegateIndex } from "./delegates.js";
import { ListenerMap } from "./listeners.js";
import { ChangePublisher, type Pacing } from "./publisher.js";
import { type OutgoingMessage, type QueueStorage, SendQueue } from "./send_queue.js";

/** A session that is followed. It is replaced at every change; its conversation is the same object as long as it grows. */
export interface Followed {
  /** As far as it has been received. The end of a long log comes first. */
  conversation: Conversation;
  /** Whether everything that happened before it was followed is here. */
  complete: boolean;
  error: ApiError | null;
}

export interface LiveStoreOptions extends Pacing {
  /** Sessions that nobody follows and that stay in memory, so that going back to one shows it at once. 16 by default. */
  idleSessions?: number;
  /** Where the messages to a session are stored that the server has not accepted yet. By default they are in memory only. */
  outboxStorage?(session: string): QueueStorage<OutgoingMessage>;
  /** Called when the server has accepted a message, also one that an earlier run of the program stored. */
  onSent?(message: OutgoingMessage): void;
}

const IDLE_SESSIONS = 16;
/** Events of a log that are read at once. */
const PAGE = 1000;

export class LiveStore {
  readonly socket: EventSocket;
  /** Sub-agents by the calls that they work for. */
  readonly delegates: DelegateIndex;
  /** Counts the sessions that were followed anew. What was asked of the server before may be out of date. */
  visits = 0;
  private readonly followed = new Map<string, Followed>();
  /** The conversations from their first event on; what is followed may for a while show only the end of one. */
  private readonly whole = new Map<string, Conversation>();
  /** Sessions whose conversation lacks events before or between those that were received. */
  private readonly gaps = new Set<string>();
  private readonly reading = new Map<string, Promise<void>>();
  private readonly users = new Map<string, number>();
  private readonly listeners = new ListenerMap();
  private readonly publisher: ChangePublisher;
  private readonly outboxes = new Map<string, SendQueue<OutgoingMessage>>();
  private readonly idleSessions: number;

  constructor(
    private readonly client: HealdClient,
    private readonly options: LiveStoreOptions = {},
  ) {
    this.idleSessions = options.idleSessions ?? IDLE_SESSIONS;
    this.socket = client.createSocket();
    this.socket.onStray = (session, events) => this.stray(session, events);
    this.socket.onState((state) => {
      if (state === "open") for (const outbox of this.outboxes.values()) outbox.open();
    });
    this.delegates = new DelegateIndex(this, client.sessions);
    this.publisher = new ChangePublisher((session) => this.publish(session), options);
  }

  open(): void {
    this.socket.open();
  }

  close(): void {
    this.socket.close();
    this.publisher.stop();
    for (const outbox of this.outboxes.values()) outbox.hold();
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

  /** Call the listener when a session changes, until the returned function is called. */
  subscribe(session: string, listener: () => void): () => void {
    const remove = this.listeners.add(session, listener);
    return () => {
      remove();
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
  readMissing(session: string): Promise<void> {
    const running = this.reading.get(session);
    if (running !== undefined) return running;
    const reading = this.readWhole(session).finally(() => this.reading.delete(session));
    this.reading.set(session, reading);
    return reading;
  }

  /**
   * Send a message behind those of the session that still wait. While the server cannot be reached it waits in the
   * outbox, and is accepted once. Returns false if it was removed from the outbox. A refusal is raised. `draft` is
   * stored with the message, for `onSent`.
   */
  send(session: string, content: string | Content, whenBusy: WhenBusy = "queue", draft?: unknown): Promise<boolean> {
    return this.outbox(session).deliver({ content, whenBusy, ...(draft === undefined ? {} : { draft }) });
  }

  /** The messages to a session that the server has not accepted yet. */
  outbox(session: string): SendQueue<OutgoingMessage> {
    const existing = this.outboxes.get(session);
    if (existing !== undefined) return existing;
    const outbox = new SendQueue<OutgoingMessage>({
      send: async ({ content: message, requestId }): Promise<void> => {
        await this.client.sessions.send(session, message.content, { whenBusy: message.whenBusy, requestId });
      },
      repeats: (error) => error instanceof ApiError && error.code === "unreachable",
      ...(this.options.outboxStorage === undefined ? {} : { storage: this.options.outboxStorage(session) }),
      ...(this.options.onSent === undefined ? {} : { onSent: this.options.onSent }),
      resumes: true,
    });
    this.outboxes.set(session, outbox);
    return outbox;
  }

  private async readWhole(session: string): Promise<void> {
    if (this.isWhole(session) || this.users.has(session)) return;
    const conversation = new Conversation(session);
    for (let events = await this.readLog(session, 0); events.length > 0; events = await this.readLog(session, conversation.seq)) {
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

  private async readLog(session: string, after: number): Promise<readonly LogEvent[]> {
    return (await this.client.sessions.log(session, after, PAGE)).events as unknown as LogEvent[];
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
        // An event from further on came as one of a sub-agent; the subscription brings it a second time, in its place.
        for (const event of events) if (event.seq <= all.seq + 1) fold(all, event);
        if (!this.stand(session).complete && last >= 0 && all.seq >= last) this.caughtUp(session);
        const { conversation, complete } = this.stand(session);
        if (conversation === all) this.publisher.schedule(session, complete);
      },
      end: (events) => {
        const { complete, conversation } = this.stand(session);
        if (complete || conversation !== this.all(session)) return;
        this.replace(session, { conversation: events.reduce(fold, new Conversation(session)) });
      },
      reset: (snapshot, seq) => {
        this.whole.set(session, restoreConversation(session, snapshot, seq));
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
    this.publisher.schedule(session);
  }

  private publish(session: string): void {
    const followed = this.followed.get(session);
    if (followed !== undefined) this.followed.set(session, { ...followed });
    this.listeners.call(session);
  }

  private stray(session: string, events: readonly LogEvent[]): void {
    const isNew = !this.followed.has(session);
    this.add(session, events);
    for (const event of events) if (event.type === "exchange_request" && event.data.cause) this.delegates.add(event.data.cause, session);
    if (isNew) this.evict();
    this.publisher.schedule(session);
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
    for (const session of idle.slice(0, Math.max(0, idle.length - this.idleSessions))) this.forget(session);
  }

  private forget(session: string): void {
    this.followed.delete(session);
    this.whole.delete(session);
    this.gaps.delete(session);
    this.delegates.forget(session);
    if (this.outboxes.get(session)?.entries.length === 0) this.outboxes.delete(session);
  }
}
