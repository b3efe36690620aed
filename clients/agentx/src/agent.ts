/** An agent on a Heald server: reactors, messages, results of tools that the client runs. */

import { AgentXError, WebSocketDriver } from "./driver.js";
import { EventBus, type Reactor } from "./reactor.js";

/** A tool that this client runs. */
export interface ClientTool {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

export interface AgentOptions {
  /** The address of the server, such as `http://127.0.0.1:8765`. */
  url: string;
  token?: string;
  /** A session that exists. Without it one is created, with the settings below. */
  session?: string;
  model?: string;
  tools?: string[];
  instructions?: string;
  permissions?: string;
  clientTools?: ClientTool[];
  /** The WebSocket class, where there is no global one. */
  WebSocket?: typeof WebSocket;
  /** Gets what a handler throws; `console.error` by default. */
  onHandlerError?: (error: unknown) => void;
  /** The connection ended and is not opened any more. */
  onEnd?: (error: AgentXError) => void;
}

/** One conversation. Closing it does not cancel what runs on the server. */
export class Agent {
  private readonly bus: EventBus;
  private readonly driver: WebSocketDriver;

  /** Use `connect`. */
  constructor(readonly agentId: string, options: AgentOptions) {
    this.bus = new EventBus(options.onHandlerError ?? ((error) => console.error(error)));
    this.driver = new WebSocketDriver({
      url: options.url,
      token: options.token,
      session: agentId,
      WebSocket: options.WebSocket,
      onEvent: (event) => this.bus.publish(event),
      onEnd: (error) => options.onEnd?.(error),
    });
  }

  /** Subscribe handlers of events. Returns the function that unsubscribes them. */
  react(reactor: Reactor): () => void {
    return this.bus.subscribe(reactor);
  }

  /** Send a user message. Resolves to the id of its exchange. */
  async send(text: string): Promise<string> {
    const result = await this.driver.request({ type: "send", text, client_request_id: newId() });
    return String(result["exchange"]);
  }

  /** Send the result of a call that this client runs. `{ type: "execution-denied", reason }` refuses the call. */
  async sendToolResult(id: string, result: unknown, isError = false): Promise<void> {
    await this.driver.request({ type: "tool_result", call_id: id, content: result, is_error: isError });
  }

  /** Allow a call that waits: the `approval` of `approval_requested`. */
  async approve(approval: string, always = false): Promise<void> {
    await this.driver.request({ type: "approve", approval, always });
  }

  async deny(approval: string, reason = ""): Promise<void> {
    await this.driver.request({ type: "deny", approval, reason });
  }

  /** Cancel the running exchange. */
  async cancel(reason = ""): Promise<void> {
    await this.driver.request({ type: "cancel", reason });
  }

  close(): void {
    this.driver.close();
  }
}

/** An id that no other request has. `crypto.randomUUID` is missing in pages without TLS. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Connect to a session, or create one. Events arrive from the beginning of the session. */
export async function connect(options: AgentOptions): Promise<Agent> {
  return new Agent(options.session ?? (await createSession(options)), options);
}

async function createSession(options: AgentOptions): Promise<string> {
  const { url, token, model, tools, instructions, permissions, clientTools } = options;
  const answer = await fetch(`${url.replace(/\/+$/, "")}/sessions`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ model, tools, instructions, permissions, client_tools: clientTools }),
  });
  const body = (await answer.json()) as { id?: string; error?: { code?: string; message?: string } };
  if (!answer.ok || typeof body.id !== "string") {
    throw new AgentXError(body.error?.code ?? "invalid", body.error?.message ?? `The server answered ${answer.status}.`);
  }
  return body.id;
}
