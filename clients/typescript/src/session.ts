/** One session: its messages, its live events, and the calls that wait for this client. */

import type { Accepted, Cancelled, FilesView, MessagesView, SessionView } from "./api.generated.js";
import type { HealdClient } from "./client.js";
import type { Content } from "./content.js";
import { streamEvents, type StreamOptions } from "./event_source.js";
import type { ApprovalRequest, ExchangeEnd, LogEvent } from "./events.js";
import type { ApiError } from "./http.js";
import type { ClientTool, SendOptions } from "./sessions.js";

export interface EventOptions extends StreamOptions {
  /** Server-sent events by default. A WebSocket is shared by all sessions of the client. */
  transport?: "sse" | "websocket";
}

/** A tool of this client, with the function that runs it. */
export interface RunnableTool extends ClientTool {
  run(input: Record<string, unknown>): unknown;
}

export interface RunOptions extends SendOptions {
  transport?: EventOptions["transport"];
  signal?: AbortSignal;
  onEvent?: (event: LogEvent) => void;
  /** Decides on a call that needs an approval; without it the exchange waits for another client. */
  onApproval?: (request: ApprovalRequest) => boolean | Promise<boolean>;
  /** Tools that this client runs while the exchange goes on. */
  tools?: readonly RunnableTool[];
}

/** The outcome of an exchange. */
export interface Outcome extends ExchangeEnd {
  exchange: string;
  /** The text of the last answer. */
  text: string;
}

export class Session {
  constructor(
    private readonly client: HealdClient,
    readonly id: string,
  ) {}

  view(): Promise<SessionView> {
    return this.client.sessions.one(this.id);
  }

  messages(): Promise<MessagesView> {
    return this.client.sessions.messages(this.id);
  }

  send(content: string | Content, options: SendOptions = {}): Promise<Accepted> {
    return this.client.sessions.send(this.id, content, options);
  }

  cancel(exchange?: string): Promise<Cancelled> {
    return this.client.sessions.cancel(this.id, exchange);
  }

  /** Allow a call that waits. The digest makes sure that it is the call that was shown. */
  approve(request: Pick<ApprovalRequest, "approval" | "digest">, always = false): Promise<void> {
    return this.client.sessions.decide(this.id, request.approval, { decision: "approve", digest: request.digest, always });
  }

  deny(approval: string, reason = ""): Promise<void> {
    return this.client.sessions.decide(this.id, approval, { decision: "deny", reason });
  }

  answer(question: string, answer: string): Promise<void> {
    return this.client.sessions.answer(this.id, question, answer);
  }

  files(): Promise<FilesView> {
    return this.client.sessions.files(this.id);
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.client.sessions.readFile(this.id, path);
  }

  sendToolResult(callId: string, content: unknown, isError = false): Promise<void> {
    return this.client.sessions.sendToolResult(this.id, callId, content, isError);
  }

  delete(): Promise<void> {
    return this.client.sessions.remove(this.id);
  }

  /** The events of the session after a cursor, then live, each once. It reconnects until it is aborted or refused. */
  events(options: EventOptions = {}): AsyncGenerator<LogEvent> {
    if (options.transport === "websocket") return this.socketEvents(options);
    return streamEvents(this.client.http, this.id, this.client.loadBlob, options);
  }

  /** Send a message and follow its exchange to the end, with approvals and tools of this client. */
  async run(content: string | Content, options: RunOptions = {}): Promise<Outcome> {
    const { transport, signal, onEvent, onApproval, tools = [], ...rest } = options;
    const sending = tools.length > 0 ? { ...rest, clientTools: tools.map(definitionOf) } : rest;
    const before = (await this.view()).last_seq;
    const { exchange } = await this.send(content, sending);
    let text = "";
    for await (const event of this.events({ after: before, transport: transport ?? "sse", signal })) {
      if (event.exchange !== exchange) continue;
      onEvent?.(event);
      switch (event.type) {
        case "approval_requested":
          if (onApproval !== undefined) void this.decide(event.data, onApproval);
          break;
        case "client_tool_requested": {
          const tool = tools.find((candidate) => candidate.name === event.data.name);
          if (tool !== undefined) void this.runTool(tool, event.data.id, event.data.input);
          break;
        }
        case "assistant_message":
          text = event.data.message.content.map((block) => (block.type === "text" ? block.text : "")).join("") || text;
          break;
        case "exchange_response":
          return { ...event.data, exchange, text };
        default:
          break;
      }
    }
    throw new Error("The stream has no end."); // the stream ends by an exception only
  }

  private async decide(request: ApprovalRequest, onApproval: NonNullable<RunOptions["onApproval"]>): Promise<void> {
    const allowed = await onApproval(request);
    await (allowed ? this.approve(request) : this.deny(request.approval)).catch(ignoreResolved);
  }

  private async runTool(tool: RunnableTool, callId: string, input: Record<string, unknown>): Promise<void> {
    let sent: Promise<void>;
    try {
      sent = this.sendToolResult(callId, (await tool.run(input)) ?? null);
    } catch (error) {
      sent = this.sendToolResult(callId, error instanceof Error ? error.message : String(error), true);
    }
    await sent.catch(ignoreResolved);
  }

  private async *socketEvents(options: EventOptions): AsyncGenerator<LogEvent> {
    const queue: LogEvent[] = [];
    let failure: unknown = null;
    let wake: () => void = () => undefined;
    let cursor = options.after === "now" ? (await this.view()).last_seq : (options.after ?? 0);
    const fail = (error: unknown) => {
      failure ??= error;
      wake();
    };
    const onAbort = () => fail(options.signal?.reason);
    options.signal?.addEventListener("abort", onAbort, { once: true });
    if (options.signal?.aborted === true) onAbort();
    const unfollow = this.client.follow(this.id, {
      cursor: () => cursor,
      events: (events) => {
        for (const event of events) {
          if (event.seq <= cursor) continue;
          cursor = event.seq;
          queue.push(event);
        }
        wake();
      },
      reset: (snapshot, seq) => {
        if (options.onReset === undefined) return fail(new Error("The server no longer has the events after the cursor."));
        cursor = seq;
        options.onReset(snapshot, seq);
      },
      failed: (error: ApiError) => fail(error),
    });
    try {
      for (;;) {
        const next = queue.shift();
        if (next !== undefined) yield next;
        else if (failure !== null) throw failure;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      options.signal?.removeEventListener("abort", onAbort);
      unfollow();
    }
  }
}

function definitionOf({ name, description, input_schema }: RunnableTool): ClientTool {
  return { name, description, input_schema };
}

/** Another client was faster, or the exchange is over: the log shows it. */
function ignoreResolved(error: unknown): void {
  if ((error as ApiError).code !== "conflict") throw error;
}
