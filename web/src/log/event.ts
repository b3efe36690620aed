/** Events: facts with their place in a session's log. */

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
