/** Reactors: handlers of events by name, and the bus that calls them. */

import { EVENT_TYPES, type AgentEvent, type EventOf, type EventType } from "./events.js";

type Pascal<S extends string> = S extends `${infer A}_${infer B}` ? `${Capitalize<A>}${Pascal<B>}` : Capitalize<S>;
type Outcome = void | Promise<void>;

/** Handlers such as `onToolResult`, or `tool_result`. `onEvent` gets all events without a handler of their own. */
export type Reactor = { [T in EventType as `on${Pascal<T>}`]?: (event: EventOf<T>) => Outcome } & {
  [T in EventType]?: (event: EventOf<T>) => Outcome;
} & {
  onEvent?: (event: AgentEvent) => Outcome;
};

const ALL = "event";

/** Check the names of a reactor's handlers, and give it its type. */
export function defineReactor<R extends Reactor>(reactor: R): R {
  readHandlers(reactor);
  return reactor;
}

const kinds = new Map<string, string>();
for (const kind of EVENT_TYPES) kinds.set(kind, kind);
for (const kind of [...EVENT_TYPES, ALL]) kinds.set(`on${pascal(kind)}`, kind);

type Handler = (event: AgentEvent) => unknown;

/** Calls the handlers of events. A handler that fails is reported and stops nothing. */
export class EventBus {
  private readonly reactors = new Set<Map<string, Handler>>();

  constructor(private readonly onHandlerError: (error: unknown) => void) {}

  /** Subscribe a reactor. Returns the function that unsubscribes it. */
  subscribe(reactor: Reactor): () => void {
    const handlers = readHandlers(reactor);
    this.reactors.add(handlers);
    return () => void this.reactors.delete(handlers);
  }

  publish(event: AgentEvent): void {
    for (const handlers of [...this.reactors]) {
      const handler = handlers.get(event.type) ?? handlers.get(ALL);
      if (handler === undefined) continue;
      try {
        const outcome = handler(event);
        if (outcome instanceof Promise) outcome.catch(this.onHandlerError);
      } catch (error) {
        this.onHandlerError(error);
      }
    }
  }
}

function readHandlers(reactor: Reactor): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  for (const name of namesOf(reactor)) {
    const handler = (reactor as Record<string, unknown>)[name];
    if (handler === undefined) continue;
    const kind = kinds.get(name);
    if (kind === undefined) throw new TypeError(`There is no handler "${name}"; the nearest name is "${nearest(name)}".`);
    if (typeof handler !== "function") throw new TypeError(`The handler "${name}" is not a function.`);
    handlers.set(kind, (handler as Handler).bind(reactor));
  }
  if (handlers.size === 0) throw new TypeError("There is no handler; give one such as onTextDelta.");
  return handlers;
}

/** The names of a reactor's handlers: all keys of an object, and the methods `on…` of a class. */
function namesOf(reactor: object): Set<string> {
  const names = new Set<string>();
  const isPlain = Object.getPrototypeOf(reactor) === Object.prototype;
  for (let at = reactor; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) if (isPlain || /^on[A-Z]/.test(name)) names.add(name);
  }
  return names;
}

function pascal(kind: string): string {
  return kind.split("_").map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function nearest(name: string): string {
  let best = "onEvent";
  let least = Infinity;
  for (const kind of kinds.keys()) {
    const steps = distance(name, kind);
    if (steps < least) [best, least] = [kind, steps];
  }
  return best;
}

/** The number of letters to insert, delete or replace. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
