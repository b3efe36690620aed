/** A conversation without its log: the server sends it when a cursor cannot be served. */

import type { Message } from "./content.js";
import type { ApprovalRequest, ClientCall, FileChange, LogEvent, Question } from "./events.js";
import { Conversation } from "./log/conversation.js";

export type SessionStatus = "idle" | "thinking" | "responding" | "working" | "waiting";

export interface Snapshot {
  messages: Message[];
  files?: Record<string, FileChange> | FileChange[];
  approvals?: ApprovalRequest[] | Record<string, ApprovalRequest>;
  questions?: Question[] | Record<string, Question>;
  client_calls?: ClientCall[] | Record<string, ClientCall>;
  status?: SessionStatus;
  exchange?: string | null;
  seq?: number;
  title?: string;
}

/** The conversation as the snapshot has it; events behind `seq` go on from there. */
export function restoreConversation(session: string, snapshot: Snapshot, seq: number): Conversation {
  const state = new Conversation(session, snapshot.messages);
  let at = 0;
  for (const message of snapshot.messages) {
    for (const data of partsOf(message, (at += 1))) state.transcript.feed(data);
  }
  for (const change of listed(snapshot.files)) state.files.set(change.path, change);
  for (const request of listed(snapshot.approvals)) {
    state.approvals.set(request.approval, request);
    state.transcript.feed(logEvent("approval_requested", request, at));
  }
  for (const question of listed(snapshot.questions)) {
    state.questions.set(question.question, question);
    state.transcript.feed(logEvent("question_asked", question, at));
  }
  for (const call of listed(snapshot.client_calls)) {
    state.clientCalls.set(call.id, call);
    state.transcript.feed(logEvent("client_tool_requested", call, at));
  }
  state.status = snapshot.status ?? "idle";
  state.exchange = snapshot.exchange ?? null;
  state.seq = seq;
  return state;
}

function listed<T>(values: T[] | Record<string, T> | undefined): T[] {
  if (values === undefined) return [];
  return Array.isArray(values) ? values : Object.values(values);
}

/** The events that would have brought a message to be shown. */
function* partsOf(message: Message, at: number): Generator<LogEvent> {
  if (message.role === "user") {
    yield logEvent("user_message", { message }, at);
    return;
  }
  yield logEvent("message_start", { message_id: message.id ?? `m${at}`, model: "", attempt: 1 }, at);
  let index = 0;
  for (const part of message.content) {
    const place = { index, block: `snapshot-${at}-${index}` };
    switch (part.type) {
      case "text":
        yield logEvent("text_content_block_start", { ...place, refusal: part.refusal === true }, at);
        yield logEvent("text_delta", { ...place, text: part.text }, at);
        yield logEvent("text_content_block_stop", place, at);
        index += 1;
        break;
      case "reasoning":
        yield logEvent("thinking_content_block_start", place, at);
        yield logEvent("thinking_delta", { ...place, text: part.text }, at);
        yield logEvent("thinking_content_block_stop", place, at);
        index += 1;
        break;
      case "tool_use":
        yield logEvent("tool_call", part, at);
        break;
      case "tool_result":
        yield logEvent("tool_result", part, at);
        break;
      default:
        break;
    }
  }
}

function logEvent<T extends LogEvent["type"]>(type: T, data: Extract<LogEvent, { type: T }>["data"], seq: number): LogEvent {
  return { seq, id: "", session: "", exchange: null, type, layer: "stream", time: 0, epoch: 0, data } as unknown as LogEvent;
}
