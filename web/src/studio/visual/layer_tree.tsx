/** The elements of a page as a tree: chosen by a click, several with Shift, and moved with Alt and the arrow keys. */

import { useMemo, useState } from "react";
import { IconButton } from "../../parts/button";
import { Icon } from "../../parts/icon";
import { layerTree as texts } from "../../texts/visual";
import type { Layer } from "./visual_message";

interface Props {
  layers: readonly Layer[];
  /** The paths of what is selected. */
  chosen: readonly string[];
  onPick(path: string, more: boolean): void;
  onHover(path: string): void;
  /** Moves the selected element before its neighbour or behind it. */
  onStep(by: -1 | 1): void;
  onClose(): void;
}

export function LayerTree({ layers, chosen, onPick, onHover, onStep, onClose }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState("");
  const rows = useMemo(() => visibleLayers(layers, closed), [layers, closed]);
  const stop = [focused, chosen.at(-1)].find((path) => rows.some((row) => row.path === path)) ?? rows[0]?.path;
  const fold = (path: string, open: boolean) => setClosed((now) => new Set(open ? [...now].filter((other) => other !== path) : [...now, path]));
  const press = (event: React.KeyboardEvent<HTMLElement>) => {
    const at = rows.findIndex((row) => row.path === stop);
    const row = rows[at];
    if (row === undefined || event.ctrlKey || event.metaKey) return;
    const focus = (index: number) => event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')[index]?.focus();
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) onStep(event.key === "ArrowUp" ? -1 : 1);
    else if (event.altKey) return;
    else if (event.key === "ArrowDown") focus(Math.min(rows.length - 1, at + 1));
    else if (event.key === "ArrowUp") focus(Math.max(0, at - 1));
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(rows.length - 1);
    else if (event.key === "ArrowRight" && row.parent) fold(row.path, true);
    else if (event.key === "ArrowLeft" && row.parent && !closed.has(row.path)) fold(row.path, false);
    else if (event.key === "ArrowLeft") focus(rows.slice(0, at).findLastIndex((other) => other.depth < row.depth));
    else return;
    event.preventDefault();
  };
  return (
    <section className="layers" aria-label={texts.layers}>
      <div className="row layers-head">
        <strong className="grow">{texts.layers}</strong>
        <IconButton small icon="left" label={texts.moveBefore} className="layer-up" disabled={chosen.length === 0} onClick={() => onStep(-1)} />
        <IconButton small icon="right" label={texts.moveBehind} className="layer-down" disabled={chosen.length === 0} onClick={() => onStep(1)} />
        <IconButton small icon="close" label={texts.closeTheLayers} onClick={onClose} />
      </div>
      <div className="tree layer-rows" role="tree" aria-label={texts.elements} aria-multiselectable="true" onKeyDown={press} onPointerLeave={() => onHover("")}>
        {rows.map((row) => (
          <button
            key={row.path}
            type="button"
            role="treeitem"
            tabIndex={row.path === stop ? 0 : -1}
            aria-level={row.depth + 1}
            aria-selected={chosen.includes(row.path)}
            {...(row.parent ? { "aria-expanded": !closed.has(row.path) } : {})}
            style={{ paddingLeft: 4 + Math.min(row.depth, 12) * 12 }}
            onFocus={() => setFocused(row.path)}
            onPointerEnter={() => onHover(row.path)}
            onClick={(event) => onPick(row.path, event.shiftKey)}
          >
            <span
              className="layer-fold"
              aria-hidden="true"
              onClick={(event) => {
                if (!row.parent) return;
                event.stopPropagation();
                fold(row.path, closed.has(row.path));
              }}
            >
              {row.parent && <Icon name={closed.has(row.path) ? "right" : "down"} size={12} />}
            </span>
            <span className="mono">{row.name}</span>
            <span className="faint truncate">{row.label}</span>
          </button>
        ))}
      </div>
    </section>
  );
}

/** The rows whose parents are all open. */
export function visibleLayers(layers: readonly Layer[], closed: ReadonlySet<string>): Layer[] {
  let hidden = Infinity; // everything deeper than this is inside a closed one
  return layers.filter((layer) => {
    if (layer.depth > hidden) return false;
    hidden = closed.has(layer.path) ? layer.depth : Infinity;
    return true;
  });
}
