/** The WebSocket of one session. It reconnects by itself and resumes after the last event that arrived as a whole. */

import type { AgentEvent } from "./events.js";

/** The server refused a command, or the session. `code` is the server's, such as `conflict` or `not_found`. */
export class AgentXError extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
    this.name = "AgentXError";
  }
}

export interface DriverOptions {
  url: string;
  token?: string | undefined;
  session: string;
  /** The WebSocket class; the global one by default. */
  WebSocket?: typeof WebSocket | undefined;
  onEvent: (event: AgentEvent) => void;
  /** The connection ended for good. */
  onEnd: (error: AgentXError) => void;
}

interface Command {
  frame: Record<string, unknown>;
  sent: number;
  resolve: (result: Record<string, unknown>) => void;
  reject: (error: AgentXError) => void;
}

/** Milliseconds that `close` waits for replies at most. */
const CLOSING = 5000;
const FIRST_DELAY = 100;
const LONGEST_DELAY = 5000;
const FINAL: Record<number, [string, string]> = {
  4401: ["unauthorized", "The server refused the token."],
  4404: ["not_found", "The server has no such session."],
  4409: ["invalid_cursor", "The server no longer has the events that were missed."],
};

export class WebSocketDriver {
  private socket: WebSocket | null = null;
  private seq = 0;
  /** The frames of the event after `seq`, as far as they arrived. */
  private unfinished = new Set<string>();
  private readonly commands = new Map<string, Command>();
  private tries = 0;
  private numbers = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ended: AgentXError | null = null;
  private closing = false;

  constructor(private readonly options: DriverOptions) {
    this.connect();
  }

  /** Send a command and wait for its reply. It is sent a second time if the connection breaks before the reply. */
  request(frame: Record<string, unknown>): Promise<Record<string, unknown>> {
    if (this.ended !== null) return Promise.reject(this.ended);
    if (this.closing) return Promise.reject(closed());
    this.numbers += 1;
    const id = `cmd_${this.numbers}`;
    return new Promise((resolve, reject) => {
      const command: Command = { frame: { ...frame, id }, sent: 0, resolve, reject };
      this.commands.set(id, command);
      if (this.socket?.readyState === 1) this.write(command);
    });
  }

  /** No event arrives any more. Replies to what was sent do: the server has it. */
  close(): void {
    if (this.ended !== null || this.closing) return;
    this.closing = true;
    clearTimeout(this.timer);
    if (this.socket?.readyState !== 1 || this.commands.size === 0) return this.end(closed(), false);
    this.timer = setTimeout(() => this.end(closed(), false), CLOSING);
  }

  private connect(): void {
    const { url, token, session } = this.options;
    const Socket = this.options.WebSocket ?? globalThis.WebSocket;
    const base = url.replace(/^http/, "ws").replace(/\/+$/, "");
    const address = `${base}/sessions/${encodeURIComponent(session)}/ws?dialect=agentx&after=${this.seq}`;
    const socket = new Socket(address, token === undefined ? ["heald"] : ["heald", `heald.bearer.${token}`]);
    this.socket = socket;
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      for (const command of this.commands.values()) this.write(command);
    };
    socket.onmessage = (message) => {
      this.tries = 0;
      this.receive(JSON.parse(String(message.data)) as Record<string, unknown>);
    };
    let failed = false;
    const fail = () => {
      if (failed || this.socket !== socket) return;
      failed = true;
      void this.refused().then((code) => this.socket === socket && this.lost(code));
    };
    socket.onerror = () => {
      if (!wasOpen) fail(); // some versions of node send no close event then
    };
    socket.onclose = (closed) => {
      if (!wasOpen) fail();
      else if (this.socket === socket) this.lost(closed.code);
    };
  }

  /** Why a handshake failed, as a close code: a browser does not show the status of its answer. */
  private async refused(): Promise<number> {
    const { url, token, session } = this.options;
    const address = `${url.replace(/\/+$/, "")}/sessions/${encodeURIComponent(session)}`;
    try {
      const answer = await fetch(address, { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
      return answer.status === 401 ? 4401 : answer.status === 404 ? 4404 : 1006;
    } catch {
      return 1006;
    }
  }

  private lost(code: number): void {
    this.socket = null;
    if (this.closing) return this.end(closed(), false);
    const final = FINAL[code];
    if (final !== undefined) return this.end(new AgentXError(...final));
    const delay = this.tries === 0 ? 0 : Math.min(FIRST_DELAY * 2 ** (this.tries - 1), LONGEST_DELAY);
    this.tries += 1;
    this.timer = setTimeout(() => this.connect(), delay * (0.5 + Math.random() / 2));
  }

  private end(error: AgentXError, report = true): void {
    if (this.ended !== null) return;
    this.ended = error;
    clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    for (const command of this.commands.values()) command.reject(error);
    this.commands.clear();
    if (report) this.options.onEnd(error);
  }

  private write(command: Command): void {
    command.sent += 1;
    this.socket?.send(JSON.stringify(command.frame));
  }

  private receive(frame: Record<string, unknown>): void {
    if (typeof frame["uuid"] === "string") {
      if (!this.closing) this.event(frame["uuid"], frame);
      return;
    }
    const command = this.commands.get(String(frame["id"]));
    if (command === undefined) return;
    this.commands.delete(String(frame["id"]));
    this.answer(command, frame);
    if (this.closing && this.commands.size === 0) this.end(closed(), false);
  }

  private answer(command: Command, frame: Record<string, unknown>): void {
    if (frame["type"] === "reply") {
      command.resolve((frame["result"] ?? {}) as Record<string, unknown>);
      return;
    }
    const error = (frame["error"] ?? {}) as { code?: string; message?: string };
    if (command.sent > 1 && error.code === "conflict") command.resolve({}); // the reply to the first delivery was lost
    else command.reject(new AgentXError(error.code ?? "invalid", error.message ?? "The server refused."));
  }

  private event(uuid: string, frame: Record<string, unknown>): void {
    const seq = frame["seq"];
    const isNew = !this.unfinished.has(uuid) && (typeof seq !== "number" || seq > this.seq);
    this.unfinished.add(uuid);
    if (typeof seq === "number") {
      this.seq = Math.max(this.seq, seq);
      this.unfinished.clear();
    }
    delete frame["seq"];
    if (isNew) this.options.onEvent(frame as unknown as AgentEvent);
  }
}

function closed(): AgentXError {
  return new AgentXError("closed", "This client was closed.");
}
