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

/** An element that was dragged beside another one. */
export interface Moved {
  element: Required<RenderedBody>;
  target: Required<RenderedBody>;
  place: "before" | "after";
  /** Its selector at the new place. */
  path: string;
}

export type VisualMessage =
  | { heald: "handled"; style: Record<string, string> }
  | { heald: "typed"; text: string }
  | ({ heald: "moved" } & Moved)
  | { heald: "layers"; layers: Layer[] };

const MOST_LAYERS = 1500;

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
      const [element, target] = [asPlace(asRecord(said["element"])), asPlace(asRecord(said["target"]))];
      return { heald: "moved", element, target, place: said["place"] === "after" ? "after" : "before", path: asText(said["path"], 4000) };
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
