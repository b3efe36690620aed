/** A conversation without its log: the server sends it when a cursor cannot be served. */

import type { Message } from "./content.js";
import type { ApprovalRequest, ClientCall, FileChange, Question } from "./events.js";

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
