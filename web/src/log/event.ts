/** Events: facts with their place in a session's log. */

import type { Payloads } from "@heald/client";

export { eventsOf, isEvent } from "@heald/client";
export type {
  ApprovalRequest,
  ClientCall,
  EventType,
  ExchangeEnd,
  ExchangeStatus,
  FileChange,
  Layer,
  LogEvent,
  Payloads,
  Question,
} from "@heald/client";

/** A page or a document that a provider found, or that an answer cites. */
export type Source = Payloads["citation_added"]["source"];
