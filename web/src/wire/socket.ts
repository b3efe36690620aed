/**
 * One WebSocket for all streams; commands are REST calls. It reconnects by itself and continues each session after the
 * last event that was received, so a dropped connection loses and doubles nothing.
 */

import { eventsOf, type LogEvent } from "../log/event";
import type { Snapshot } from "../log/snapshot";
import type { ProjectView } from "./api";
import { delayBefore } from "./backoff";
import { hasBlobs, restoreBlobs } from "./blobs";
import { ApiError } from "./rest";

export type Connection = "connecting" | "open" | "lost" | "refused";

/** Who follows a session: where it stands, and what to do with what comes. */
export interface Follower {
  cursor(): number;
  /** The next events of it, all that came together. */
  events(events: readonly LogEvent[]): void;
  /** What happened last in a long log, to be shown while all of it comes. */
  end?(events: readonly LogEvent[]): void;
  reset(snapshot: Snapshot, seq: number): void;
  caughtUp?(seq: number): void;
  failed?(error: ApiError): void;
}

interface ServerFrame {
  type: string;
  session?: string;
  seq?: number;
  error?: { code: string; message: string };
  snapshot?: Snapshot;
  events?: LogEvent[];
  project?: ProjectView;
}

/** The server says something every fifteen seconds; after this long it is gone. */
const SILENCE = 40_000;
const SIGNED_OUT = 4401;

export class Socket {
  state: Connection = "connecting";
  /** When the next attempt is made, if there is no connection. */
  retryAt = 0;
  /** Events of sessions that nobody asked for: agents that work for one that somebody follows. */
  onStray: (session: string, events: readonly LogEvent[]) => void = () => undefined;
  onProject: (project: ProjectView) => void = () => undefined;

  private socket: WebSocket | null = null;
  private listeners = new Set<(state: Connection) => void>();
  private followers = new Map<string, Follower>();
  private projects = new Set<string>();
  private attempt = 0;
  private heard = 0;
  private timer: number | undefined;
  /** The frames that wait for the contents of an earlier one, in their order. */
  private restoring: Promise<void> | null = null;

  constructor(private readonly address: string) {}

  open(): void {
    this.connect();
    window.setInterval(() => this.watch(), 5_000);
    window.addEventListener("online", () => this.again());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.state === "lost") this.again();
    });
  }

  /** Hear of every change of the connection, until the returned function is called. */
  onState(listener: (state: Connection) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  follow(session: string, follower: Follower): void {
    this.followers.set(session, follower);
    this.subscribe(session, follower);
  }

  leave(session: string): void {
    if (this.followers.delete(session)) this.send({ type: "unsubscribe", session });
  }

  followProject(project: string): void {
    this.projects.add(project);
    this.send({ type: "subscribe", project });
  }

  leaveProject(project: string): void {
    if (this.projects.delete(project)) this.send({ type: "unsubscribe", project });
  }

  /** Try now rather than later. */
  again(): void {
    if (this.state === "open") return;
    window.clearTimeout(this.timer);
    this.attempt = 0;
    this.connect();
  }

  private send(message: Record<string, unknown>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  private subscribe(session: string, follower: Follower): void {
    this.send({ type: "subscribe", session, resume: follower.cursor(), batch: true, end: true });
  }

  private connect(): void {
    if (this.socket !== null && this.socket.readyState <= WebSocket.OPEN) return;
    const socket = new WebSocket(this.address);
    this.socket = socket;
    this.turn("connecting");
    socket.onopen = () => this.opened();
    socket.onmessage = (message) => {
      if (socket === this.socket) this.receive(String(message.data));
    };
    socket.onclose = (close) => {
      if (socket === this.socket) this.closed(close.code);
    };
  }

  private opened(): void {
    this.attempt = 0;
    this.heard = Date.now();
    this.turn("open");
    for (const [session, follower] of this.followers) this.subscribe(session, follower);
    for (const project of this.projects) this.send({ type: "subscribe", project });
  }

  private closed(code: number): void {
    this.socket = null;
    if (code === SIGNED_OUT) {
      this.turn("refused");
      return;
    }
    const delay = delayBefore(this.attempt++);
    this.retryAt = Date.now() + delay;
    this.timer = window.setTimeout(() => this.connect(), delay);
    this.turn("lost");
  }

  /** A connection on which nothing comes is none. */
  private watch(): void {
    if (this.state !== "open" || Date.now() - this.heard < SILENCE) return;
    const dead = this.socket;
    this.closed(0);
    dead?.close();
  }

  private turn(state: Connection): void {
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }

  private receive(text: string): void {
    this.heard = Date.now();
    const frame: unknown = JSON.parse(text);
    if (this.restoring === null && !hasBlobs(frame)) this.handle(frame);
    else this.restore(frame);
  }

  /** Handle a frame once its large contents, and those of the frames before it, are there. */
  private restore(frame: unknown): void {
    const socket = this.socket;
    const restored = (this.restoring ?? Promise.resolve())
      .then(() => restoreBlobs(frame))
      .then(
        () => {
          if (socket === this.socket) this.handle(frame);
        },
        () => {
          if (socket === this.socket) socket?.close(); // the next connection sends it again
        },
      )
      .then(() => {
        if (this.restoring === restored) this.restoring = null;
      });
    this.restoring = restored;
  }

  private handle(frame: unknown): void {
    const events = eventsOf(frame);
    if (events === null) {
      this.hear(frame as ServerFrame);
      return;
    }
    for (let start = 0, end = 0; start < events.length; start = end) {
      const session = events[start]?.session ?? "";
      while (events[end]?.session === session) end += 1;
      this.give(session, start === 0 && end === events.length ? events : events.slice(start, end));
    }
  }

  private give(session: string, events: readonly LogEvent[]): void {
    const follower = this.followers.get(session);
    if (follower === undefined) this.onStray(session, events);
    else follower.events(events);
  }

  private hear(frame: ServerFrame): void {
    const follower = this.followers.get(frame.session ?? "");
    switch (frame.type) {
      case "error": {
        const error = new ApiError(0, frame.error?.code ?? "internal", frame.error?.message ?? "The server reports an error.");
        follower?.failed?.(error);
        return;
      }
      case "subscribed":
        follower?.caughtUp?.(frame.seq ?? 0);
        return;
      case "end":
        follower?.end?.(frame.events ?? []);
        return;
      case "reset":
        if (frame.snapshot !== undefined) follower?.reset(frame.snapshot, frame.seq ?? 0);
        return;
      case "project_changed":
        if (frame.project !== undefined) this.onProject(frame.project);
        return;
      default:
        return;
    }
  }
}
