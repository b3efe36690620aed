/** Calls of the API about sessions. */

import type {
  Accepted,
  BlobView,
  Cancelled,
  ChangesView,
  ClientToolsView,
  DecisionBody,
  DelegatesView,
  Fact,
  FilesView,
  ForkBody,
  ForkChangeBody,
  HunksView,
  JudgementBody,
  LogView,
  MemoryView,
  MessagesView,
  NewFactBody,
  NewSession,
  PendingView,
  RevisionsView,
  SessionChange,
  SessionComparison,
  SessionsView,
  SessionView,
  Submission,
} from "./api.generated.js";
import type { Content } from "./content.js";
import { filePath, type HttpClient, newRequestId, queryOf } from "./http.js";

export type WhenBusy = "queue" | "steer" | "interrupt" | "refuse";

/** A tool that this client runs. */
export interface ClientTool {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

/** Options of a message, beside its content. */
export interface SendOptions {
  whenBusy?: WhenBusy;
  /** A message with the id of an earlier one returns the same exchange. A new id is made by default. */
  requestId?: string;
  /** A JSON Schema that the answer must match. */
  outputSchema?: Record<string, unknown>;
  /** Replaces the tools that clients run. */
  clientTools?: ClientTool[];
}

export class SessionsApi {
  constructor(private readonly http: HttpClient) {}

  list(search = "", after: string | null = null, limit = 50): Promise<SessionsView> {
    return this.http.get(this.http.route("sessions") + queryOf({ search, limit, after }));
  }

  one(id: string): Promise<SessionView> {
    return this.http.get(this.at(id));
  }

  create(settings: NewSession = {}): Promise<SessionView> {
    return this.http.post(this.http.route("sessions"), settings);
  }

  change(id: string, change: SessionChange): Promise<SessionView> {
    return this.http.patch(this.at(id), change);
  }

  remove(id: string): Promise<void> {
    return this.http.remove(this.at(id));
  }

  /** Create a session with the log up to an event, the last one by default. With a change it continues at once: with another model, prompt, result or approval. */
  fork(id: string, at?: number, title?: string, change?: ForkChangeBody): Promise<SessionView> {
    const body: ForkBody = { ...(at === undefined ? {} : { at }), ...(title === undefined ? {} : { title }), ...(change === undefined ? {} : { change }) };
    return this.http.post(this.at(id, "fork"), body);
  }

  /** The events that two sessions share, and what each did after them. */
  compare(id: string, other: string): Promise<SessionComparison> {
    return this.http.get(this.at(id, "compare", other));
  }

  /** Goes back to an event; with `files`, the files that the session changed are as they were then. */
  rewind(id: string, seq: number, files = false): Promise<SessionView> {
    return this.http.post(this.at(id, "rewind"), files ? { seq, files } : { seq });
  }

  /** Begin anew: the conversation is emptied, the log and the files stay. */
  reset(id: string): Promise<SessionView> {
    return this.http.post(this.at(id, "reset"));
  }

  /** The address of the whole session as one file. */
  exportPath(id: string): string {
    return this.at(id, "export");
  }

  /** Create a session from a file that `exportPath` gave. */
  async importFrom(file: Blob | Uint8Array): Promise<SessionView> {
    const response = await this.http.response("POST", this.http.route("sessions", "import"), file);
    return (await response.json()) as SessionView;
  }

  // --- the conversation ----------------------------------------------------------------------------------------------

  send(id: string, content: string | Content, options: WhenBusy | SendOptions = {}): Promise<Accepted> {
    const { whenBusy, requestId, outputSchema, clientTools }: SendOptions = typeof options === "string" ? { whenBusy: options } : options;
    const body: Record<string, unknown> = {
      ...(typeof content === "string" ? { text: content } : { content }),
      when_busy: whenBusy ?? "queue",
      client_request_id: requestId ?? newRequestId(),
    } satisfies Omit<Submission, "content"> & { content?: Content };
    if (outputSchema !== undefined) body["output_schema"] = outputSchema;
    if (clientTools !== undefined) body["client_tools"] = clientTools;
    return this.http.post(this.at(id, "messages"), body);
  }

  messages(id: string): Promise<MessagesView> {
    return this.http.get(this.at(id, "messages"));
  }

  cancel(id: string, exchange?: string, reason?: string): Promise<Cancelled> {
    return this.http.post(this.at(id, "cancel"), { ...(exchange === undefined ? {} : { exchange }), ...(reason === undefined ? {} : { reason }) });
  }

  /** What waits for the user or for a client. */
  pending(id: string): Promise<PendingView> {
    return this.http.get(this.at(id, "pending"));
  }

  async decide(id: string, approval: string, decision: DecisionBody): Promise<void> {
    await this.http.post(this.at(id, "approvals", approval), decision);
  }

  /** Revoke what was always allowed. */
  async forgetAllowed(id: string): Promise<void> {
    await this.http.remove(this.at(id, "allowed"));
  }

  async answer(id: string, question: string, answer: string): Promise<void> {
    await this.http.post(this.at(id, "questions", question), { answer });
  }

  // --- the memory ----------------------------------------------------------------------------------------------------

  /** The facts that a session is given, with the events that they came from. */
  memory(id: string): Promise<MemoryView> {
    return this.http.get(this.at(id, "memory"));
  }

  addFact(id: string, fact: NewFactBody): Promise<Fact> {
    return this.http.post(this.at(id, "memory"), fact);
  }

  /** Change the words of a fact, or keep it for all conversations as it is. */
  changeFact(id: string, fact: string, text?: string): Promise<Fact> {
    return this.http.patch(this.at(id, "memory", fact), text === undefined ? {} : { text });
  }

  async removeFact(id: string, fact: string): Promise<void> {
    await this.http.remove(this.at(id, "memory", fact));
  }

  // --- tools that this client runs -----------------------------------------------------------------------------------

  clientTools(id: string): Promise<ClientToolsView> {
    return this.http.get(this.at(id, "client_tools"));
  }

  setClientTools(id: string, tools: readonly ClientTool[]): Promise<SessionView> {
    return this.http.patch(this.at(id), { client_tools: tools });
  }

  /** Send the result of a call. `{ type: "execution-denied", reason }` refuses the call. */
  async sendToolResult(id: string, callId: string, content: unknown, isError = false): Promise<void> {
    await this.http.post(this.at(id, "tool_results"), { call_id: callId, content, is_error: isError });
  }

  // --- the log and sub-agents ----------------------------------------------------------------------------------------

  log(id: string, after = 0, limit = 500): Promise<LogView> {
    return this.http.get(this.at(id, "log") + queryOf({ after, limit }));
  }

  delegates(id: string): Promise<DelegatesView> {
    return this.http.get(this.at(id, "delegates"));
  }

  // --- files ---------------------------------------------------------------------------------------------------------

  files(id: string): Promise<FilesView> {
    return this.http.get(this.at(id, "files"));
  }

  /** The address of a file. */
  file(id: string, path: string, revision?: number): string {
    return `${this.at(id, "files")}/${filePath(path)}${queryOf({ revision })}`;
  }

  readFile(id: string, path: string, revision?: number): Promise<Uint8Array> {
    return this.http.bytes(this.file(id, path, revision));
  }

  revisions(id: string, path: string): Promise<RevisionsView> {
    return this.http.get(`${this.at(id, "revisions")}/${filePath(path)}`);
  }

  /** Files that differ from their content before the session. */
  changes(id: string): Promise<ChangesView> {
    return this.http.get(this.at(id, "changes"));
  }

  changesOf(id: string, path: string): Promise<HunksView> {
    return this.http.get(`${this.at(id, "changes")}/${filePath(path)}`);
  }

  judge(id: string, path: string, judgement: JudgementBody): Promise<HunksView> {
    return this.http.post(`${this.at(id, "changes")}/${filePath(path)}`, judgement);
  }

  /** The address of a blob. */
  blob(id: string, digest: string): string {
    return this.at(id, "blobs", digest);
  }

  /** Store bytes for the parts of later messages, which name them as `blob`. */
  async addBlob(id: string, data: Blob | Uint8Array): Promise<string> {
    const response = await this.http.response("POST", this.at(id, "blobs"), data);
    return ((await response.json()) as BlobView).blob;
  }

  private at(id: string, ...rest: string[]): string {
    return this.http.route("sessions", id, ...rest);
  }
}
