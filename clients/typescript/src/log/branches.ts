/**
 * The branches of a conversation: requests that were made at the same place, of which one is part of it now. The others
 * are still in the log, and rewinding to the end of one brings it back with all that followed.
 */

import type { LogEvent } from "../events.js";

interface Branch {
  /** The event of its request. */
  request: number;
  /** The end of the exchange before it; 0 for a first request. */
  parent: number;
  /** The last event while it was part of the conversation; 0 if it was never left. */
  tip: number;
}

/** A place in a conversation that has several branches. */
export interface Crossing {
  /** Which branch is shown, counted from 1; 0 if none is. */
  number: number;
  count: number;
  /** The events to rewind to for the branch before this one and the one behind it; null where there is none. */
  previous: number | null;
  next: number | null;
}

export class Branches {
  private branches: Branch[] = [];
  private ends: number[] = [];

  /** Read an event. `holds` says which events were part of the conversation before it. */
  feed(event: LogEvent, holds: (seq: number) => boolean): void {
    switch (event.type) {
      case "exchange_request":
        this.branches.push({ request: event.seq, parent: this.lastEnd(holds), tip: 0 });
        return;
      case "exchange_response":
        this.ends.push(event.seq);
        return;
      case "session_rewound":
        this.branches = this.branches.map((branch) => (holds(branch.request) ? { ...branch, tip: event.seq - 1 } : branch));
        return;
      default:
        return;
    }
  }

  /** The branches beside the request of an event; null if it is the only one there. */
  beside(request: number): Crossing | null {
    const branch = this.branches.find((other) => other.request === request);
    if (branch === undefined) return null;
    const group = this.branches.filter((other) => other.parent === branch.parent);
    if (group.length < 2) return null;
    const at = group.indexOf(branch);
    return { number: at + 1, count: group.length, previous: group[at - 1]?.tip ?? null, next: group[at + 1]?.tip ?? null };
  }

  /** The branches that once continued the end of the conversation; null if there are none. */
  behind(holds: (seq: number) => boolean): Crossing | null {
    const end = this.lastEnd(holds);
    const group = this.branches.filter((branch) => branch.parent === end);
    if (group.length === 0 || group.some((branch) => holds(branch.request))) return null;
    return { number: 0, count: group.length, previous: group.at(-1)?.tip ?? null, next: null };
  }

  private lastEnd(holds: (seq: number) => boolean): number {
    return this.ends.findLast(holds) ?? 0;
  }
}
