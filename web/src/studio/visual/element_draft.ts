/** What was changed of the selected elements and is not applied yet. */

import { useCallback, useState } from "react";
import type { Property } from "../css_value";
import { type Side, sidesOf, writeSides } from "./box_sides";
import type { Element } from "./picked_element";

/** What is missing is as in the page. */
export interface Draft {
  text?: string;
  source?: string;
  style: Partial<Record<Property, string>>;
}

export const UNCHANGED: Draft = { style: {} };

/** A draft for a selection; another selection begins unchanged. */
export function useElementDraft(key: string): [Draft, (change: (now: Draft) => Draft) => void] {
  const [state, setState] = useState({ key, draft: UNCHANGED });
  const draft = state.key === key ? state.draft : UNCHANGED;
  const change = useCallback((next: (now: Draft) => Draft) => setState((now) => ({ key, draft: next(now.key === key ? now.draft : UNCHANGED) })), [key]);
  return [draft, change];
}

/** The draft with sides of a padding or margin that a handle was dragged to. */
export function withSides(draft: Draft, element: Element, style: Readonly<Record<string, string>>): Draft {
  const next = { ...draft.style };
  for (const [name, value] of Object.entries(style)) {
    const [kind, side] = name.split("-") as ["padding" | "margin", Side];
    const sides = sidesOf(next[kind] ?? element[kind]);
    if (sides !== null) next[kind] = writeSides({ ...sides, [side]: value });
  }
  return { ...draft, style: next };
}
