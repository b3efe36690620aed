/**
 * One WebSocket for the events of many sessions; commands are REST calls. It reconnects by itself and continues each
 * session after the last event that was received, so a broken connection loses and doubles nothing.
 */

import type { ProjectView } from "./api.generated.js";
import { delayBefore } from "./backoff.js";
import { hasBlobs, type LoadBlob, restoreBlobs } from "./blobs.js";
import { eventsOf, type LogEvent } from "./events.js";
import { ApiError } from "./http.js";
import type { Snapshot } from "./snapshot.js";

export type Connection = "connecting" | "open" | "lost" | "refused";

/** A reader of a session: its position, and its handlers. */
export interface Follower {
  /** The `seq` of the last event that it has. */
  cursor(): number;
  /** The next events, all that came together. */
  events(events: readonly LogEvent[]): void;
  /** The last events of a long log, for display before all of it is there. */
  end?(events: readonly LogEvent[]): void;
  reset(snapshot: Snapshot, seq: number): void;
  caughtUp?(seq: number): void;
  failed?(error: ApiError): void;
}

export interface SocketOptions {
  address: string;
  protocols?: string[];
  /** The WebSocket class; the global one by default. */
  WebSocket?: typeof WebSocket | undefined;
  loadBlob: LoadBlob;
  /** Why a handshake failed, as a close code: a browser does not show the status of its response. */
  refusal?: () => Promise<number>;
}

interface ServerFrame {
  type: string;
  session?: string;
  seq?: number;
  error?: { code: string; message: string };
  snapshot?: Snapshot;
  events?: LogEvent[];
  /** The project, or the id of one that was deleted. */
  project?: ProjectView | string;
}

/** The server sends a frame every fifteen seconds; a connection without one for this long is dead. */
const SILENCE = 40_000;
const WATCH = 5_000;
/** The same for a connection that was asked. */
const ANSWER = 3_000;
const SIGNED_OUT = 4401;
const DELETED = 4404;

export class EventSocket {
  state: Connection = "connecting";
  /** When the next attempt is made, if there is no connection. */
  retryAt = 0;
  /** Events of sessions without a follower: sub-agents of one that is followed. */
  onStray: (session: string, events: readonly LogEvent[]) => void = () => undefined;
  onProject: (project: ProjectView) => void = () => undefined;
  /** A project that is followed was deleted. */
  onProjectDeleted: (project: string) => void = () => undefined;

  private socket: WebSocket | null = null;
  private listeners = new Set<(state: Connection) => void>();
  private followers = new Map<string, Follower>();
  private projects = new Set<string>();
  private attempt = 0;
  private received = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private watcher: ReturnType<typeof setInterval> | undefined;
  /** The frames that wait for the contents of an earlier one, in their order. */
  private restoring: Promise<void> | null = null;

  constructor(private readonly options: SocketOptions) {}

  open(): void {
    this.connect();
    this.watcher ??= setInterval(() => this.watch(), WATCH);
  }

  close(): void {
    clearTimeout(this.timer);
    clearInterval(this.watcher);
    this.watcher = undefined;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.turn("lost");
  }

  /** Call the listener at every change of the connection, until the returned function is called. */
  onState(listener: (state: Connection) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  follow(session: string, follower: Follower): void {
    this.followers.set(session, follower);
    this.subscribe(session, follower);
  }

  unfollow(session: string): void {
    if (this.followers.delete(session)) this.send({ type: "unsubscribe", session });
  }

  followProject(project: string): void {
    this.projects.add(project);
    this.send({ type: "subscribe", project });
  }

  unfollowProject(project: string): void {
    if (this.projects.delete(project)) this.send({ type: "unsubscribe", project });
  }

  /** Ask for a sign of life, where the network may have gone: a connection that does not answer soon is dead. */
  probe(): void {
    const { socket } = this;
    if (this.state !== "open" || socket === null) return;
    const asked = Date.now();
    this.send({ type: "ping", id: "probe" });
    setTimeout(() => {
      if (this.socket === socket && this.received < asked) this.drop();
    }, ANSWER);
  }

  /** Connect now instead of later. */
  reconnect(): void {
    if (this.state === "open") return;
    clearTimeout(this.timer);
    this.attempt = 0;
    this.connect();
  }

  private send(message: Record<string, unknown>): void {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(message));
  }

  private subscribe(session: string, follower: Follower): void {
    this.send({ type: "subscribe", session, resume: follower.cursor(), batch: true, end: follower.end !== undefined });
  }

  private connect(): void {
    if (this.socket !== null && this.socket.readyState <= 1) return;
    const Socket = this.options.WebSocket ?? globalThis.WebSocket;
    const { address, protocols = [] } = this.options;
    const socket = protocols.length > 0 ? new Socket(address, protocols) : new Socket(address);
    this.socket = socket;
    this.turn("connecting");
    let wasOpen = false;
    let failed = false;
    const fail = (code: number) => {
      if (failed || socket !== this.socket) return;
      failed = true;
      void this.refusal(wasOpen, code).then((refused) => socket === this.socket && this.lost(refused));
    };
    socket.onopen = () => {
      wasOpen = true;
      this.opened();
    };
    socket.onmessage = (message) => {
      if (socket === this.socket) this.receive(String(message.data));
    };
    socket.onerror = () => {
      if (!wasOpen) fail(1006); // some versions of node send no close event then
    };
    socket.onclose = (close) => (wasOpen ? socket === this.socket && this.lost(close.code) : fail(close.code));
  }

  private async refusal(wasOpen: boolean, code: number): Promise<number> {
    return wasOpen || this.options.refusal === undefined ? code : this.options.refusal();
  }

  private opened(): void {
    this.attempt = 0;
    this.received = Date.now();
    this.turn("open");
    for (const [session, follower] of this.followers) this.subscribe(session, follower);
    for (const project of this.projects) this.send({ type: "subscribe", project });
  }

  private lost(code: number): void {
    this.socket = null;
    if (code === SIGNED_OUT) {
      this.turn("refused");
      this.failAll(new ApiError(401, "unauthorized", "The server refused the token."));
      return;
    }
    const delay = delayBefore(this.attempt++);
    this.retryAt = Date.now() + delay;
    this.timer = setTimeout(() => this.connect(), delay);
    this.turn("lost");
  }

  private failAll(error: ApiError): void {
    for (const follower of [...this.followers.values()]) follower.failed?.(error);
  }

  private watch(): void {
    if (this.state === "open" && Date.now() - this.received >= SILENCE) this.drop();
  }

  private drop(): void {
    const dead = this.socket;
    this.lost(0);
    dead?.close();
  }

  private turn(state: Connection): void {
    this.state = state;
    for (const listener of this.listeners) listener(state);
  }

  private receive(text: string): void {
    this.received = Date.now();
    const frame: unknown = JSON.parse(text);
    if (this.restoring === null && !hasBlobs(frame)) this.handle(frame);
    else this.restore(frame);
  }

  /** Handle a frame once its large contents, and those of the frames before it, are there. */
  private restore(frame: unknown): void {
    const socket = this.socket;
    const restored = (this.restoring ?? Promise.resolve())
      .then(() => restoreBlobs(frame, this.options.loadBlob))
      .then(
        () => {
          if (socket === this.socket) this.handle(frame);
        },
        () => {
          if (socket === this.socket) socket?.close(); // the next connection brings the frame a second time
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
      this.control(frame as ServerFrame);
      return;
    }
    for (let start = 0, end = 0; start < events.length; start = end) {
      const session = events[start]?.session ?? "";
      while (events[end]?.session === session) end += 1;
      this.deliver(session, start === 0 && end === events.length ? events : events.slice(start, end));
    }
  }

  private deliver(session: string, events: readonly LogEvent[]): void {
    const follower = this.followers.get(session);
    if (follower === undefined) this.onStray(session, events);
    else follower.events(events);
  }

  private control(frame: ServerFrame): void {
    const follower = this.followers.get(frame.session ?? "");
    switch (frame.type) {
      case "error":
        follower?.failed?.(new ApiError(0, frame.error?.code ?? "internal", frame.error?.message ?? "The server reports an error."));
        return;
      case "goodbye":
        if ((frame as { reason?: string }).reason === "deleted") follower?.failed?.(deletedError());
        return;
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
        if (typeof frame.project === "object") this.onProject(frame.project);
        return;
      case "project_deleted":
        if (typeof frame.project === "string") this.onProjectDeleted(frame.project);
        return;
      default:
        return;
    }
  }
}

function deletedError(): ApiError {
  return new ApiError(404, "not_found", "The session was deleted.");
}

/** The close code for the status of a refused request. */
export function closeCodeOf(status: number): number {
  return status === 401 ? SIGNED_OUT : status === 404 ? DELETED : 1006;
}
