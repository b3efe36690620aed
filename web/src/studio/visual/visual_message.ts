/** What a preview says while its elements are edited. */

import type { RenderedBody } from "@heald/client";
import { asList, asPlace, asRecord, asText } from "./picked_element";

/** One row of the tree of elements. */
export interface Layer {
  path: string;
  name: string;
  label: string;
  depth: number;
  /** Whether it holds other elements. */
  parent: boolean;
}

/** Elements that were dragged beside another one, in the order of the page. `path` is the selector of one at its new place. */
export interface Moved {
  moves: { element: Required<RenderedBody>; path: string }[];
  target: Required<RenderedBody>;
  place: "before" | "after";
}

export type VisualMessage =
  | { heald: "handled"; style: Record<string, string> }
  | { heald: "typed"; text: string }
  | ({ heald: "moved" } & Moved)
  | { heald: "layers"; layers: Layer[] };

const MOST_LAYERS = 1500;
const MOST_MOVED = 50;

/** The message, if it is one of these. */
export function asVisualMessage(said: Readonly<Record<string, unknown>>): VisualMessage | null {
  switch (said["heald"]) {
    case "handled": {
      const sides = Object.entries(asRecord(said["style"])).filter(([name]) => /^(padding|margin)-(top|right|bottom|left)$/.test(name));
      return { heald: "handled", style: Object.fromEntries(sides.map(([name, value]) => [name, asText(value, 20)])) };
    }
    case "typed":
      return { heald: "typed", text: asText(said["text"], 4000) };
    case "moved": {
      const moves = asList(said["moves"], MOST_MOVED).map((move) => ({ element: asPlace(asRecord(move["element"])), path: asText(move["path"], 4000) }));
      return { heald: "moved", moves, target: asPlace(asRecord(said["target"])), place: said["place"] === "after" ? "after" : "before" };
    }
    case "layers":
      return { heald: "layers", layers: asList(said["layers"], MOST_LAYERS).map(asLayer) };
    default:
      return null;
  }
}

function asLayer(said: Readonly<Record<string, unknown>>): Layer {
  return {
    path: asText(said["path"], 4000),
    name: asText(said["name"], 60),
    label: asText(said["label"], 60),
    depth: Math.max(0, Math.min(200, Math.trunc(Number(said["depth"])) || 0)),
    parent: said["parent"] === true,
  };
}
