/** What a person sees of a log: a list of items, folded from the events. */

import type { ToolResult } from "../content.js";
import type { LogEvent, Payloads, Source } from "../events.js";
import { Drafts } from "./drafts.js";
import type { Item, NoticeItem, TextItem, ThinkingItem, ToolItem } from "./item.js";

type Open = TextItem | ThinkingItem | ToolItem;

export class Transcript {
  items: Item[] = [];
  readonly drafts = new Drafts();
  /** The model that spoke last. */
  model = "";
  private places = new Map<string, number>();
  private shelved: Item[] = [];
  private blocks: string[] = [];
  private messageId = "";
  private forked = false;
  private exchange: { id: string | null; seq: number; spoke: boolean } = { id: null, seq: 0, spoke: false };

  feed(event: LogEvent): void {
    this.drafts.feed(event);
    switch (event.type) {
      case "exchange_request":
        this.exchange = { id: event.exchange, seq: event.seq, spoke: false };
        return;
      case "user_message":
        if (event.data.message.role !== "user") return; // the results that an exchange began with
        this.add({
          kind: "user",
          key: `user-${event.seq}`,
          seq: event.seq,
          exchange: event.exchange,
          message: event.data.message,
          steered: this.exchange.spoke,
          before: this.exchange.seq - 1,
        });
        this.exchange.spoke = true;
        return;
      case "message_start":
        this.messageId = event.data.message_id;
        this.model = event.data.model;
        this.blocks = [];
        this.beginAttempt();
        return;
      case "text_content_block_start":
        this.begin(text(event.seq, event.data, this.messageId));
        return;
      case "thinking_content_block_start":
        this.begin(thinking(event.seq, event.data, this.messageId, event.time));
        return;
      case "tool_use_content_block_start":
        this.begin(tool(event.seq, event.data, this.messageId));
        return;
      case "text_delta":
        this.changeAt(event.data.index, "text", (item) => ({ ...item, text: item.text + event.data.text }));
        return;
      case "thinking_delta":
        this.changeAt(event.data.index, "thinking", (item) => ({ ...item, text: item.text + event.data.text }));
        return;
      case "input_json_delta":
        this.changeAt(event.data.index, "tool", (item) => ({ ...item, json: item.json + event.data.partial_json }));
        return;
      case "text_content_block_stop":
        this.changeAt(event.data.index, "text", (item) => ({ ...item, open: false }));
        return;
      case "thinking_content_block_stop":
        this.changeAt(event.data.index, "thinking", (item) => ({ ...item, ended: event.time }));
        return;
      case "message_discarded":
        this.discard(event.data, event.time);
        return;
      case "server_tool_call": {
        const { id, message_id: messageId, name, input = {} } = event.data;
        this.add({ kind: "server_tool", key: id, seq: event.seq, messageId, name, input, done: false, failed: false, text: "", sources: [] });
        return;
      }
      case "server_tool_result": {
        const { id, text: output = "", sources = [], is_error: failed = false } = event.data;
        this.change(id, "server_tool", (item) => ({ ...item, done: true, failed, text: output, sources }));
        return;
      }
      case "citation_added":
        this.cite(event.data);
        return;
      case "tool_call":
        this.called(event.seq, event.data);
        return;
      case "file_preview":
        this.changeTool(event.data.id, (item) => (item.writing === event.data.path ? item : { ...item, writing: event.data.path }));
        return;
      case "tool_executing": {
        const { id, summary } = event.data;
        this.changeTool(id, (item) => ({ ...item, phase: "running", started: event.time, subject: summary || item.subject }));
        return;
      }
      case "tool_output_delta":
        this.changeTool(event.data.id, (item) => ({ ...item, output: tail(item.output + event.data.text) }));
        return;
      case "tool_completed":
      case "tool_failed": {
        const { id, summary, duration_ms } = event.data;
        this.changeTool(id, (item) => ({ ...item, durationMs: duration_ms, summary: summary || item.summary }));
        return;
      }
      case "tool_result": {
        const result = event.data;
        const exitCode = exitCodeOf(result);
        const succeeded = result.status === "ok" && result.is_error !== true && (exitCode ?? 0) === 0;
        this.changeTool(result.id, (item) => ({
          ...item,
          result,
          onClient: false,
          status: result.status,
          phase: succeeded ? "done" : "failed",
          exitCode,
          summary: result.summary || item.summary,
        }));
        return;
      }
      case "approval_requested":
        this.changeTool(event.data.call_id, (item) => ({ ...item, approval: event.data, phase: "waiting" }));
        return;
      case "approval_resolved": {
        const { call_id: call, decision, reason, always, input } = event.data;
        this.changeTool(call, (item) => ({
          ...item,
          approval: null,
          input: input ?? item.input,
          phase: item.phase === "waiting" ? "planned" : item.phase,
          decision: { allowed: decision === "allowed", reason: reason ?? "", always: always === true },
        }));
        return;
      }
      case "question_asked":
        this.changeTool(event.data.call_id, (item) => ({ ...item, question: event.data, phase: "waiting" }));
        return;
      case "question_answered":
        this.changeTool(event.data.call_id, (item) => ({ ...item, question: null, answer: event.data.answer, phase: "running" }));
        return;
      case "client_tool_requested":
        this.changeTool(event.data.id, (item) => ({ ...item, onClient: true, phase: "waiting" }));
        return;
      case "conversation_interrupted":
        this.items.forEach((item, at) => {
          if (item.kind === "tool" && item.question !== null) this.items[at] = { ...item, question: null };
        });
        return;
      case "file_changed":
        this.changeTool(event.data.cause, (item) => ({ ...item, changes: [...item.changes, event.data] }));
        return;
      case "retry_scheduled":
        this.announceAttempt(event.seq, event.data);
        return;
      case "agent_changed": {
        const { agent, model } = event.data;
        const speaker = agent === "" ? "The first agent" : `The agent ${agent}`;
        this.notice(event.seq, "info", model ? `${speaker} continues, with ${model}.` : `${speaker} continues.`, null);
        return;
      }
      case "session_forked": {
        const { changed = [] } = event.data;
        const what = changed.length > 0 ? `another ${changed.join(" and ")}` : "the same, once more";
        this.notice(event.seq, "info", `Forked at event ${event.data.seq}: ${what}.`, null);
        this.forked = true;
        return;
      }
      case "session_resumed":
        if (!this.forked) this.notice(event.seq, "info", "The server was restarted; the session continues from here.", null);
        this.forked = false;
        return;
      case "error_message":
        this.notice(event.seq, "error", event.data.error.message, event.data.error);
        return;
      case "exchange_response":
        this.exchange = { id: null, seq: event.seq, spoke: false };
        this.add({ kind: "end", key: `end-${event.seq}`, seq: event.seq, exchange: event.exchange, response: event.data });
        return;
      default:
        return;
    }
  }

  /** Only what these events brought is still part of the conversation. */
  keep(holds: (seq: number) => boolean): void {
    const all = [...this.items, ...this.shelved].sort((a, b) => a.seq - b.seq);
    this.shelved = all.filter((item) => !holds(item.seq));
    this.replaceAll(all.filter((item) => holds(item.seq)));
  }

  find(key: string): Item | undefined {
    const at = this.places.get(key);
    return at === undefined ? undefined : this.items[at];
  }

  private add(item: Item): void {
    this.places.set(item.key, this.items.length);
    this.items.push(item);
  }

  private begin(item: Open): void {
    this.blocks.push(item.key);
    this.add(item);
  }

  private changeAt<K extends Open["kind"]>(index: number, kind: K, change: (item: Extract<Open, { kind: K }>) => Item): void {
    const key = this.blocks[index];
    if (key !== undefined) this.change(key, kind, change);
  }

  private changeTool(call: string, change: (item: ToolItem) => Item): void {
    this.change(call, "tool", change);
  }

  private change<K extends Item["kind"]>(key: string, kind: K, change: (item: Extract<Item, { kind: K }>) => Item): void {
    const at = this.places.get(key);
    const item = at === undefined ? undefined : this.items[at];
    if (at === undefined || item?.kind !== kind) return;
    this.items[at] = change(item as Extract<Item, { kind: K }>);
  }

  private called(seq: number, call: Payloads["tool_call"]): void {
    if (!this.places.has(call.id)) this.addCall(seq, call);
    this.changeTool(call.id, (item) => ({
      ...item,
      input: call.input,
      invalid: call.invalid?.message ?? null,
      phase: item.phase === "writing" ? "planned" : item.phase,
    }));
  }

  /** A call that a program made stands below the program and its earlier calls. */
  private addCall(seq: number, call: Payloads["tool_call"]): void {
    const parent = call.parent ?? null;
    const item = { ...tool(seq, call, this.messageId), parent };
    const at = this.items.findLastIndex((other) => other.kind === "tool" && parent !== null && (other.id === parent || other.parent === parent));
    if (at < 0) this.add(item);
    else this.replaceAll([...this.items.slice(0, at + 1), item, ...this.items.slice(at + 1)]);
  }

  private cite({ block, message_id: messageId, source }: Payloads["citation_added"]): void {
    const said = this.items.findLast((item) => item.kind === "text" && item.messageId === messageId);
    this.change(block || (said?.key ?? ""), "text", (item) => ({ ...item, sources: withSource(item.sources, source) }));
  }

  private discard(discarded: Payloads["message_discarded"], time: number): void {
    const cut = discarded.error.code === "cancelled";
    const remaining: Item[] = [];
    for (const item of this.items) {
      if (!("messageId" in item) || item.messageId !== discarded.message_id) remaining.push(item);
      else if (cut && item.kind === "text" && item.text.trim() !== "") remaining.push({ ...item, open: false, cut: true });
      else if (cut && item.kind === "thinking") remaining.push({ ...item, ended: item.ended ?? time });
    }
    this.replaceAll(remaining);
    this.blocks = [];
  }

  private replaceAll(items: Item[]): void {
    this.items = items;
    this.places = new Map(items.map((item, at) => [item.key, at]));
  }

  /** Attempts that fail one after the other share a notice. */
  private announceAttempt(seq: number, { attempt, delay_s, error }: Payloads["retry_scheduled"]): void {
    const text = `Attempt ${attempt} follows in ${seconds(delay_s)}.`;
    const key = this.announced?.key ?? `notice-${seq}`;
    if (this.announced === null) this.notice(seq, "warning", text, error);
    this.change(key, "notice", (item) => ({ ...item, text, error, attempt }));
  }

  private beginAttempt(): void {
    const announced = this.announced;
    if (announced !== null) this.change(announced.key, "notice", (item) => ({ ...item, text: `This is attempt ${announced.attempt}.` }));
  }

  /** The notice of an attempt that has brought nothing yet. */
  private get announced(): NoticeItem | null {
    const last = this.items.at(-1);
    return last?.kind === "notice" && last.attempt !== undefined ? last : null;
  }

  private notice(seq: number, tone: NoticeItem["tone"], words: string, error: NoticeItem["error"]): void {
    this.add({ kind: "notice", key: `notice-${seq}`, seq, tone, text: words, error });
  }
}

const MAX_OUTPUT = 200_000;

/** The end of an output that grew too long to show. */
function tail(output: string): string {
  return output.length > MAX_OUTPUT * 1.25 ? output.slice(-MAX_OUTPUT) : output;
}

function seconds(delay: number): string {
  return delay < 10 ? `${delay.toFixed(1)} s` : `${Math.round(delay)} s`;
}

function text(seq: number, start: Payloads["text_content_block_start"], messageId: string): TextItem {
  const refusal = start.refusal === true;
  return { kind: "text", key: start.block, seq, messageId, text: "", refusal, open: true, cut: false, sources: [] };
}

function thinking(seq: number, start: Payloads["thinking_content_block_start"], messageId: string, time: number): ThinkingItem {
  return { kind: "thinking", key: start.block, seq, messageId, text: "", started: time, ended: null };
}

function tool(seq: number, call: { id: string; name: string }, messageId: string): ToolItem {
  return {
    kind: "tool",
    key: call.id,
    seq,
    messageId,
    id: call.id,
    name: call.name,
    parent: null,
    json: "",
    input: null,
    invalid: null,
    phase: "writing",
    status: null,
    subject: "",
    summary: "",
    exitCode: null,
    started: null,
    durationMs: null,
    output: "",
    result: null,
    changes: [],
    writing: null,
    approval: null,
    decision: null,
    question: null,
    answer: null,
    onClient: false,
  };
}

/** The exit code of a command. Logs of older versions have it in the summary alone. */
function exitCodeOf(result: ToolResult): number | null {
  const code = result.data?.["exit_code"];
  if (typeof code === "number") return code;
  const stated = /^exit code (\d+)/.exec(result.summary ?? "")?.[1];
  return stated === undefined ? null : Number(stated);
}

/** The sources with another one, which may be there already. */
function withSource(sources: readonly Source[], added: Source): Source[] {
  const isListed = sources.some((source) => source.url === added.url && source.title === added.title);
  return isListed ? [...sources] : [...sources, added];
}
