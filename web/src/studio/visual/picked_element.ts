/** Elements that were selected in a preview, as the preview describes them. It is data: nothing in it is believed or run. */

import type { RenderedBody } from "@heald/client";

/** What an element shows, for changing it directly. */
export interface Element {
  /** Its text; null if it holds other elements. */
  text: string | null;
  /** The address of a picture. */
  source: string | null;
  color: string;
  background: string;
  size: string;
  padding: string;
  margin: string;
  family: string;
  weight: string;
}

/** One of the selected elements. */
export interface Picked {
  /** Where it stands in the page and in the source. */
  place: Required<RenderedBody>;
  /** How many elements the same place in the source makes. */
  copies: number;
  /** The selector of the rule that sets a property for the selected elements only. */
  rules: Readonly<Record<string, string>>;
  element: Element;
}

/** A colour or font that the project names. */
export interface Token {
  kind: "color" | "font";
  name: string;
  value: string;
  /** What is written for it. */
  code: string;
}

/** All that is selected. */
export interface Selection {
  /** The one that the panel shows: the last one that was selected. */
  primary: Picked;
  others: readonly Picked[];
  tokens: readonly Token[];
  /** Whether it was selected with the keyboard, just now. */
  keyed: boolean;
}

const MOST_OTHERS = 199;
const MOST_TOKENS = 200;
const MOST_RULES = 40;

type Said = Readonly<Record<string, unknown>>;

export function asText(value: unknown, most: number): string {
  return String(value ?? "").slice(0, most);
}

export function asRecord(value: unknown): Said {
  return typeof value === "object" && value !== null ? (value as Said) : {};
}

export function asList(value: unknown, most: number): Said[] {
  return Array.isArray(value) ? value.slice(0, most).map(asRecord) : [];
}

export function asPlace(said: Said): Required<RenderedBody> {
  return { path: asText(said["path"], 4000), source: asText(said["source"], 4000), template: asText(said["template"], 200_000) };
}

export function asPicked(said: Said): Picked {
  const look = asRecord(said["look"]);
  const element: Element = {
    text: typeof said["text"] === "string" ? asText(said["text"], 4000) : null,
    source: typeof said["source"] === "string" ? asText(said["source"], 2000) : null,
    color: asText(look["color"], 60),
    background: asText(look["background"], 60),
    size: asText(look["size"], 40),
    padding: asText(look["padding"], 80),
    margin: asText(look["margin"], 80),
    family: asText(look["family"], 200),
    weight: asText(look["weight"], 20),
  };
  const place = asPlace({ ...asRecord(said["mark"]), path: said["path"] });
  return { place, copies: Math.max(1, Math.trunc(Number(said["copies"])) || 1), rules: asRules(said["rules"]), element };
}

function asRules(said: unknown): Record<string, string> {
  const rules = Object.entries(asRecord(said)).slice(0, MOST_RULES);
  return Object.fromEntries(rules.map(([name, selector]) => [asText(name, 40), asText(selector, 200)]));
}

export function asSelection(said: Said): Selection {
  const tokens = asList(said["tokens"], MOST_TOKENS).map(asToken);
  return { primary: asPicked(said), others: asList(said["others"], MOST_OTHERS).map(asPicked), tokens, keyed: said["keyed"] === true };
}

function asToken(said: Said): Token {
  return { kind: said["kind"] === "font" ? "font" : "color", name: asText(said["name"], 80), value: asText(said["value"], 200), code: asText(said["code"], 200) };
}

/** The paths of all that is selected, the one that the panel shows last. */
export function pathsOf(selection: Selection | null): string[] {
  return selection === null ? [] : [...selection.others, selection.primary].map((picked) => picked.place.path);
}

/** The selection after some of its elements were moved. Those inside of another one are no longer part of it. */
export function movedSelection(selection: Selection, moves: readonly { element: { path: string }; path: string }[]): Selection {
  const paths = new Map(moves.map(({ element, path }) => [element.path, path]));
  const moved = [...selection.others, selection.primary].flatMap((picked) => {
    const path = paths.get(picked.place.path);
    return path === undefined ? [] : [{ ...picked, place: { ...picked.place, path } }];
  });
  return { ...selection, primary: moved.at(-1) ?? selection.primary, others: moved.slice(0, -1) };
}
