/** Server-sent events of a session over `fetch`: with a token, and resumed after the last event by itself. */

import { delayBefore, sleep } from "./backoff.js";
import { hasBlobs, type LoadBlob, restoreBlobs } from "./blobs.js";
import { isEvent, type LogEvent } from "./events.js";
import { ApiError, type HttpClient, queryOf } from "./http.js";
import type { Snapshot } from "./snapshot.js";

/** A frame of a stream of server-sent events. */
export interface ServerSentEvent {
  event: string;
  data: string;
  id: string | null;
}

export interface StreamOptions {
  /** The `seq` of the last event that is known; 0 for the whole log, "now" for new events only. */
  after?: number | "now" | undefined;
  signal?: AbortSignal | undefined;
  /** The server could not continue after the cursor: the state of the client is replaced. Without it that is an error. */
  onReset?: ((snapshot: Snapshot, seq: number) => void) | undefined;
}

/** The server sends a heartbeat every fifteen seconds; a connection without one for this long is dead. */
const SILENCE = 40_000;
const FINAL: Record<string, [number, string, string]> = {
  token: [401, "unauthorized", "The token was revoked."],
  deleted: [404, "not_found", "The session was deleted."],
};

/** The events of a session, from the cursor on and without an end. It reconnects until it is aborted or refused. */
export async function* streamEvents(http: HttpClient, session: string, loadBlob: LoadBlob, options: StreamOptions = {}): AsyncGenerator<LogEvent> {
  let cursor: number | "now" = options.after ?? 0;
  for (let attempt = 0; ; attempt += 1) {
    if (attempt > 0) await sleep(delayBefore(attempt - 1), options.signal);
    try {
      for await (const frame of openStream(http, session, cursor, options.signal)) {
        attempt = 0;
        if (frame.event === "goodbye") {
          const final = FINAL[(JSON.parse(frame.data) as { reason: string }).reason];
          if (final !== undefined) throw new ApiError(...final);
          break;
        }
        const data: unknown = JSON.parse(frame.data);
        if (hasBlobs(data)) await restoreBlobs(data, loadBlob);
        if (frame.event === "reset") {
          cursor = readReset(data, options);
        } else if (isEvent(data) && (cursor === "now" || data.seq > cursor)) {
          cursor = data.seq;
          yield data;
        }
      }
    } catch (error) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (error instanceof ApiError && !isPassing(error)) throw error;
    }
  }
}

function readReset(data: unknown, options: StreamOptions): number {
  const { snapshot, seq, message } = data as { snapshot: Snapshot; seq: number; message: string };
  if (options.onReset === undefined) throw new ApiError(409, "invalid_cursor", message);
  options.onReset(snapshot, seq);
  return seq;
}

/** Whether the same request may succeed later. */
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status === 429 || error.status >= 500;
}

async function* openStream(http: HttpClient, session: string, cursor: number | "now", signal?: AbortSignal): AsyncGenerator<ServerSentEvent> {
  const address = http.route("sessions", session, "events") + queryOf({ after: cursor === "now" ? "now" : undefined });
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (typeof cursor === "number" && cursor > 0) headers["Last-Event-ID"] = String(cursor);
  const closing = new AbortController();
  const stop = () => closing.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  let timer = setTimeout(() => closing.abort(), SILENCE);
  try {
    const response = await http.response("GET", address, undefined, { headers, signal: closing.signal, cache: "no-store" });
    if (response.body === null) return;
    const parser = new EventParser();
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => closing.abort(), SILENCE);
      yield* parser.feed(value);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    closing.abort();
  }
}

/** Parses server-sent events from bytes, cut at any place. */
export class EventParser {
  private readonly decoder = new TextDecoder();
  private rest = "";
  private event = "";
  private data: string[] = [];
  private id: string | null = null;

  *feed(bytes: Uint8Array): Generator<ServerSentEvent> {
    this.rest += this.decoder.decode(bytes, { stream: true });
    const lines = this.rest.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) {
      const frame = this.line(line);
      if (frame !== null) yield frame;
    }
  }

  private line(line: string): ServerSentEvent | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") this.event = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id") this.id = value;
    return null;
  }

  private dispatch(): ServerSentEvent | null {
    const { event, data, id } = this;
    this.event = "";
    this.data = [];
    return data.length === 0 ? null : { event: event || "message", data: data.join("\n"), id };
  }
}
