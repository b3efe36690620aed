/** Events: facts with their place in a session's log. */

import type { Payloads } from "weft-client";

export { eventsOf, isEvent } from "weft-client";
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
} from "weft-client";

/** A page or a document that a provider found, or that an answer cites. */
export type Source = Payloads["citation_added"]["source"];
