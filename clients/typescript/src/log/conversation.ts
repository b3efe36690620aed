/**
 * A conversation as its log tells it: the same fold as in Python, so that replay, reload and live are one code path.
 *
 * `fold` changes the state in place, for a log has tens of thousands of events; whoever shows it looks at `version`.
 */

import { type ErrorInfo, isCall, type Message, type ToolCall, type ToolResult, type Usage } from "../content.js";
import type { ApprovalRequest, ClientCall, ExchangeEnd, FileChange, LogEvent, Question } from "../events.js";
import type { SessionStatus } from "../snapshot.js";
import { Assembler } from "./assembler.js";
import { Branches, type Crossing } from "./branches.js";
import { Transcript } from "./transcript.js";
import { addUsage } from "./usage.js";

export interface ToolState {
  call: ToolCall;
  phase: "planned" | "running" | "done" | "failed";
  summary: string;
  result: ToolResult | null;
}

export interface Queued {
  request: string;
  message: Message | null;
}

export class Conversation {
  version = 0;
  seq = 0;
  status: SessionStatus = "idle";
  exchange: string | null = null;
  /** When the exchange that runs was asked for, in seconds. */
  began = 0;
  messages: Message[] = [];
  tools = new Map<string, ToolState>();
  files = new Map<string, FileChange>();
  /** How often a person accepted what became of a file. */
  accepted = 0;
  approvals = new Map<string, ApprovalRequest>();
  questions = new Map<string, Question>();
  /** Calls that wait for a client to run them. */
  clientCalls = new Map<string, ClientCall>();
  queue = new Map<string, Queued>();
  turns = 0;
  usage: Usage = {};
  costUsd: number | null = 0;
  error: ErrorInfo | null = null;
  /** The attempt that is waited for, and when it begins, in seconds; null while none is. */
  nextAttempt: { number: number; time: number } | null = null;
  events: LogEvent[] = [];

  readonly transcript = new Transcript();
  readonly assembler = new Assembler();
  private readonly course = new Course();
  private readonly branches = new Branches();
  private said: { seq: number; message: Message }[] = [];
  private open: ToolCall[] = [];
  private readonly history: Message[];

  constructor(
    readonly session: string,
    history: Message[] = [],
  ) {
    this.history = history;
    this.messages = [...history];
  }

  /** The text of the message that is being written. */
  get partial(): string {
    return this.assembler.said;
  }

  /** Take the next event. One that came before is left out: the wire says everything at least once. */
  feed(event: LogEvent): void {
    if (event.seq <= this.seq) return;
    this.version += 1;
    this.seq = event.seq;
    this.events.push(event);
    this.branches.feed(event, this.holds);
    this.settleState(event);
    this.transcript.feed(event);
    if (event.type === "session_rewound") this.transcript.keep(this.holds);
  }

  /** The other branches at a request, by its event; null if there are none. */
  branchesAt(request: number): Crossing | null {
    return this.branches.beside(request);
  }

  /** The branches that once continued the end of the conversation; null if there are none. */
  branchesBehind(): Crossing | null {
    return this.branches.behind(this.holds);
  }

  private readonly holds = (seq: number): boolean => this.course.holds(seq);

  private settleState(event: LogEvent): void {
    if (ENDS_WAIT.has(event.type)) this.nextAttempt = null;
    switch (event.type) {
      case "retry_scheduled":
        this.nextAttempt = { number: event.data.attempt, time: event.time + event.data.delay_s };
        return;
      case "exchange_request":
        this.exchange = event.exchange;
        this.began = event.time;
        this.status = "thinking";
        this.error = null;
        this.queue.delete(event.exchange ?? "");
        return;
      case "user_message":
        this.say(event.data.message);
        return;
      case "assistant_message":
        this.say(event.data.message);
        this.open = event.data.message.content.filter(isCall);
        for (const call of this.open) this.tools.set(call.id, planned(call));
        return;
      case "conversation_thinking":
        this.status = "thinking";
        return;
      case "conversation_responding":
        this.status = "responding";
        return;
      case "conversation_queued": {
        const request = event.data.request ?? "";
        this.queue.set(request, { request, message: event.data.message ?? null });
        return;
      }
      case "conversation_dequeued":
        this.queue.delete(event.data.request);
        return;
      case "tool_executing": {
        this.status = "working";
        const tool = this.tools.get(event.data.id);
        if (tool !== undefined) this.tools.set(event.data.id, { ...tool, phase: "running", summary: event.data.summary ?? "" });
        return;
      }
      case "tool_failed": {
        const tool = this.tools.get(event.data.id);
        if (tool !== undefined) this.tools.set(event.data.id, { ...tool, phase: "failed" });
        return;
      }
      case "approval_requested":
        this.approvals.set(event.data.approval, event.data);
        this.status = "waiting";
        return;
      case "approval_resolved":
        this.approvals.delete(event.data.approval);
        this.status = "working";
        return;
      case "question_asked":
        this.questions.set(event.data.question, event.data);
        this.status = "waiting";
        return;
      case "question_answered":
        this.questions.delete(event.data.question);
        this.status = "working";
        return;
      case "client_tool_requested":
        this.clientCalls.set(event.data.id, event.data);
        this.status = "waiting";
        return;
      case "file_changed":
        this.files.set(event.data.path, event.data);
        return;
      case "file_accepted":
        this.accepted += 1;
        return;
      case "error_occurred":
        this.error = event.data.error;
        return;
      case "conversation_interrupted":
        this.questions.clear();
        return;
      case "exchange_response":
        this.end(event.data);
        return;
      case "session_rewound":
        this.rewind(event.data.seq);
        return;
      case "tool_call":
        if (!this.tools.has(event.data.id)) this.tools.set(event.data.id, planned(event.data));
        return;
      case "tool_result":
        this.result(event.data);
        return;
      case "message_discarded": {
        const said = this.assembler.said;
        this.assembler.feed(event);
        if (event.data.error.code === "cancelled" && said.trim() !== "") {
          this.say({ role: "assistant", content: [{ type: "text", text: said }] });
        }
        return;
      }
      default:
        this.assembler.feed(event);
    }
  }

  private result(result: ToolResult): void {
    for (const [name, question] of this.questions) if (question.call_id === result.id) this.questions.delete(name);
    if (this.clientCalls.delete(result.id)) this.status = this.clientCalls.size > 0 ? "waiting" : "working";
    const tool = this.tools.get(result.id);
    if (tool !== undefined) {
      this.tools.set(result.id, { ...tool, result, phase: result.status === "ok" ? "done" : "failed" });
    }
    const results = this.open.map((call) => this.tools.get(call.id)?.result ?? null);
    if (results.length === 0 || results.includes(null)) return;
    this.say({ role: "tool", content: results.filter((item) => item !== null) });
    this.open = [];
  }

  private say(message: Message): void {
    this.messages.push(message);
    this.said.push({ seq: this.seq, message });
  }

  private rewind(seq: number): void {
    this.course.rewind(this.seq, seq);
    const messages = this.said.filter((item) => this.course.holds(item.seq)).map((item) => item.message);
    this.messages = [...this.history, ...messages];
    this.error = null;
  }

  private end(response: ExchangeEnd): void {
    this.status = "idle";
    this.exchange = null;
    this.turns += response.turns;
    this.usage = addUsage(this.usage, response.usage);
    const isPriced = this.costUsd !== null && response.cost_usd !== null && response.cost_usd !== undefined;
    this.costUsd = isPriced ? (this.costUsd ?? 0) + (response.cost_usd ?? 0) : null;
  }
}

/** Events after which no attempt is waited for any more. */
const ENDS_WAIT: ReadonlySet<string> = new Set(["message_start", "conversation_thinking", "conversation_responding", "exchange_response", "exchange_request"]);

/** The one reducer: replay, reload and live all go through here. */
export function fold(state: Conversation, event: LogEvent): Conversation {
  state.feed(event);
  return state;
}

function planned(call: ToolCall): ToolState {
  return { call, phase: "planned", summary: "", result: null };
}

/** Behind the first seq and up to the second; null is the log's end. */
type Span = readonly [number, number | null];

/** Which parts of a log are in force after rewinding, which may itself be undone by rewinding. */
export class Course {
  private courses: { since: number; spans: readonly Span[] }[] = [];

  /** At event `at` the conversation went back to what it was at `seq`. */
  rewind(at: number, seq: number): void {
    const before = this.courses.findLast((course) => course.since <= seq)?.spans ?? [[0, null] as const];
    const spans = before.map(([after, upto]): Span => [after, upto ?? seq]);
    this.courses.push({ since: at, spans: [...spans, [at, null]] });
  }

  holds(seq: number): boolean {
    const now = this.courses.at(-1);
    return now === undefined || now.spans.some(([after, upto]) => after < seq && (upto === null || seq <= upto));
  }
}
