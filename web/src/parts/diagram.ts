/**
 * Draws the flowcharts and sequence diagrams of mermaid's language, in their common forms. Any other diagram stays as it was written.
 */

import { diagram as texts } from "../texts/parts";

const SPACE = "http://www.w3.org/2000/svg";
const LETTER = 7.4;
const LINE = 17;
const MOST = 120;

type Shape = "box" | "round" | "diamond" | "circle";
interface Box {
  id: string;
  lines: string[];
  shape: Shape;
  width: number;
  height: number;
  x: number;
  y: number;
  rank: number;
}
interface Link {
  from: Box;
  to: Box;
  label: string;
  style: "solid" | "dotted" | "thick";
  hasHead: boolean;
}

/** The drawing of a source; null if it is not understood. */
export function toDiagram(source: string): SVGElement | null {
  const lines = source.split(/\n|;(?=\s|$)/).map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("%%"));
  const head = lines.shift() ?? "";
  const direction = /^(?:graph|flowchart)(?:\s+(TD|TB|LR|RL|BT))?$/.exec(head);
  if (direction !== null) return flowchart(lines, direction[1] ?? "TD");
  return head === "sequenceDiagram" ? sequence(lines) : null;
}

// --- flowcharts

const NODE = /^([\w.-]+?)(?=\s*(?:$|[[({>&]|--|-\.|==|:::))\s*(?:\(\((.+?)\)\)|\(\[(.+?)\]\)|\[\[(.+?)\]\]|\[\((.+?)\)\]|\{\{(.+?)\}\}|\[(.+?)\]|\((.+?)\)|\{(.+?)\}|>(.+?)\])?(?::::\w+)?/;
const EDGE = /^(<?)(?:--\s+([^-|>][^|>]*?)\s+--(>|-|x|o)|-\.\s+([^|>]+?)\s+\.-(>|-)|==\s+([^|>]+?)\s+==(>|=)|(-{2,})(>|-|x|o)?|(-\.+-)(>)?|(={2,})(>|=)?)(?:\s*\|([^|]*)\|)?/;
const IGNORED = /^(?:subgraph|end|classDef|class|style|linkStyle|click|direction)\b/;

function flowchart(lines: readonly string[], direction: string): SVGElement | null {
  const boxes = new Map<string, Box>();
  const links: Link[] = [];
  for (const line of lines) {
    if (IGNORED.test(line)) continue;
    if (!readLine(line, boxes, links)) return null;
  }
  if (boxes.size === 0 || boxes.size > MOST || links.length > 2 * MOST) return null;
  const isAcross = direction === "LR" || direction === "RL";
  arrange([...boxes.values()], links, isAcross, direction === "BT" || direction === "RL");
  const all = [...boxes.values()];
  const labels = links.map((link) => ({ ...route(link, isAcross), lines: link.label.split("\n") }));
  const right = labels.map(({ x, lines }) => x + (Math.max(...lines.map((line) => line.length)) * LETTER) / 2);
  const bottom = labels.map(({ y, lines }) => y + (lines.length * LINE) / 2);
  const width = Math.max(...all.map((box) => box.x + box.width / 2), ...right) + 12;
  const height = Math.max(...all.map((box) => box.y + box.height / 2), ...bottom) + 12;
  const drawing = canvas(width, height, texts.flowchart(all.map((box) => box.lines.join(" ")).join(", ")));
  for (const link of links) drawing.append(...drawLink(link, isAcross));
  for (const box of all) drawing.append(...drawBox(box));
  return drawing;
}

function readLine(line: string, boxes: Map<string, Box>, links: Link[]): boolean {
  let rest = line;
  let from: Box[] = [];
  let edge: Omit<Link, "from" | "to"> | null = null;
  while (rest !== "") {
    const group: Box[] = [];
    for (;;) {
      const match = NODE.exec(rest);
      if (match === null) return false;
      rest = rest.slice(match[0].length).trim();
      group.push(boxOf(boxes, match));
      if (!rest.startsWith("&")) break;
      rest = rest.slice(1).trim();
    }
    if (edge !== null) for (const start of from) for (const end of group) links.push({ from: start, to: end, ...edge });
    from = group;
    if (rest === "") return true;
    const match = EDGE.exec(rest);
    if (match === null) return false;
    const [raw, , solid, solidEnd, dotted, dottedEnd, thick, thickEnd, plain, plainEnd, dots, dotsEnd, bars, barsEnd, label] = match;
    const end = solidEnd ?? dottedEnd ?? thickEnd ?? plainEnd ?? dotsEnd ?? barsEnd ?? "";
    const style = dotted ?? dots ? "dotted" : thick ?? bars ? "thick" : "solid";
    if (plain === undefined && solid === undefined && style === "solid") return false;
    edge = { label: clean(label ?? solid ?? dotted ?? thick ?? ""), style, hasHead: end === ">" || end === "x" || end === "o" };
    rest = rest.slice(raw.length).trim();
    if (rest === "") return false;
  }
  return true;
}

function boxOf(boxes: Map<string, Box>, match: RegExpExecArray): Box {
  const [, id = "", circle, stadium, routine, cylinder, hexagon, square, round, diamond, flag] = match;
  const text = circle ?? stadium ?? routine ?? cylinder ?? hexagon ?? square ?? round ?? diamond ?? flag;
  const existing = boxes.get(id);
  if (existing !== undefined && text === undefined) return existing;
  const shape: Shape = circle !== undefined ? "circle" : diamond !== undefined || hexagon !== undefined ? "diamond" : stadium !== undefined || round !== undefined ? "round" : "box";
  const lines = clean(text ?? id).split("\n");
  const inner = Math.max(...lines.map((line) => line.length)) * LETTER;
  const extra = shape === "diamond" ? 56 : 24;
  const height = lines.length * LINE + (shape === "diamond" ? 40 : 18);
  const side = Math.max(inner + 24, height);
  const size = shape === "circle" ? { width: side, height: side } : { width: Math.max(48, inner + extra), height };
  const box: Box = Object.assign(existing ?? { id, x: 0, y: 0, rank: 0 }, { lines, shape, ...size });
  boxes.set(id, box);
  return box;
}

/** How far a link that leads back keeps away from its boxes. */
const BEND = 48;

/** Places boxes in ranks: each below those that lead to it, near the middle of them. */
function arrange(boxes: readonly Box[], links: readonly Link[], isAcross: boolean, isReversed: boolean): void {
  const forward = withoutCycles(boxes, links);
  for (let round = 0; round < boxes.length; round += 1) {
    let isChanged = false;
    for (const { from, to } of forward) {
      if (to.rank > from.rank) continue;
      to.rank = from.rank + 1;
      isChanged = true;
    }
    if (!isChanged) break;
  }
  const ranks: Box[][] = [];
  for (const box of boxes) (ranks[box.rank] ??= []).push(box);
  const place = new Map<Box, number>();
  const settle = (rank: Box[]) => rank.forEach((box, at) => place.set(box, at - (rank.length - 1) / 2));
  ranks.forEach(settle);
  for (let sweep = 0; sweep < 6; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const rank of isDown ? ranks : [...ranks].reverse()) {
      const weight = new Map(rank.map((box) => [box, middle(forward.filter((link) => (isDown ? link.to : link.from) === box).map((link) => place.get(isDown ? link.from : link.to) ?? 0), place.get(box) ?? 0)]));
      rank.sort((one, other) => (weight.get(one) ?? 0) - (weight.get(other) ?? 0));
      settle(rank);
    }
  }
  const along = (box: Box) => (isAcross ? box.height : box.width);
  const breadth = Math.max(...ranks.map((rank) => rank.reduce((sum, box) => sum + along(box) + 28, -28)));
  let offset = 12;
  for (const rank of isReversed ? [...ranks].reverse() : ranks) {
    const depth = Math.max(...rank.map((box) => (isAcross ? box.width : box.height)));
    let at = 12 + (breadth - rank.reduce((sum, box) => sum + along(box) + 28, -28)) / 2;
    for (const box of rank) {
      const [here, there] = [at + along(box) / 2, offset + depth / 2];
      [box.x, box.y] = isAcross ? [there, here] : [here, there];
      at += along(box) + 28;
    }
    offset += depth + (isAcross ? 90 : 56);
  }
}

function middle(values: readonly number[], otherwise: number): number {
  return values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function withoutCycles(boxes: readonly Box[], links: readonly Link[]): Link[] {
  const state = new Map<Box, "open" | "done">();
  const forward: Link[] = [];
  const visit = (box: Box) => {
    state.set(box, "open");
    for (const link of links) {
      if (link.from !== box || state.get(link.to) === "open") continue;
      forward.push(link);
      if (!state.has(link.to)) visit(link.to);
    }
    state.set(box, "done");
  };
  for (const box of boxes) if (!state.has(box)) visit(box);
  return forward;
}

function drawBox({ x, y, width, height, shape, lines }: Box): SVGElement[] {
  const [left, top] = [x - width / 2, y - height / 2];
  const outline =
    shape === "diamond"
      ? draw("polygon", { points: `${x},${top} ${x + width / 2},${y} ${x},${top + height} ${left},${y}`, class: "diagram-box" })
      : draw("rect", { x: left, y: top, width, height, rx: shape === "box" ? 4 : height / 2, class: "diagram-box" });
  return [outline, ...textLines(lines, x, y)];
}

/** Where a link runs, where its label stands, and from where it arrives. What leads back goes around what is between. */
function route({ from, to }: Link, isAcross: boolean): { path: string; x2: number; y2: number; x: number; y: number; arrival: readonly [number, number] } {
  const isForward = isAcross ? to.x > from.x : to.y > from.y;
  if (isForward && isAcross) {
    const [x1, x2] = [from.x + from.width / 2, to.x - to.width / 2];
    const x = (x1 + x2) / 2;
    return { path: `M${x1},${from.y} C${x},${from.y} ${x},${to.y} ${x2},${to.y}`, x2, y2: to.y, x, y: (from.y + to.y) / 2, arrival: [-1, 0] };
  }
  if (isForward) {
    const [y1, y2] = [from.y + from.height / 2, to.y - to.height / 2];
    const y = (y1 + y2) / 2;
    return { path: `M${from.x},${y1} C${from.x},${y} ${to.x},${y} ${to.x},${y2}`, x2: to.x, y2, x: (from.x + to.x) / 2, y, arrival: [0, -1] };
  }
  if (isAcross) {
    const [y1, y2] = [from.y + from.height / 2, to.y + to.height / 2];
    const below = Math.max(y1, y2) + BEND;
    return { path: `M${from.x},${y1} C${from.x},${below} ${to.x},${below} ${to.x},${y2}`, x2: to.x, y2, x: (from.x + to.x) / 2, y: (y1 + 6 * below + y2) / 8, arrival: [0, 1] };
  }
  const [x1, x2] = [from.x + from.width / 2, to.x + to.width / 2];
  const beside = Math.max(x1, x2) + BEND;
  return { path: `M${x1},${from.y} C${beside},${from.y} ${beside},${to.y} ${x2},${to.y}`, x2, y2: to.y, x: (x1 + 6 * beside + x2) / 8, y: (from.y + to.y) / 2, arrival: [1, 0] };
}

function drawLink(link: Link, isAcross: boolean): SVGElement[] {
  const { label, style, hasHead } = link;
  if (link.from === link.to) return [];
  const { path, x2, y2, x, y, arrival } = route(link, isAcross);
  const line = draw("path", { d: path, class: "diagram-line", "stroke-dasharray": style === "dotted" ? "4 4" : "none", "stroke-width": style === "thick" ? 3 : 1.5 });
  const parts = [line];
  if (hasHead) parts.push(head(x2, y2, arrival));
  if (label !== "") parts.push(...textLines(label.split("\n"), x, y, "diagram-label"));
  return parts;
}

function head(x: number, y: number, [dx, dy]: readonly [number, number]): SVGElement {
  const [bx, by] = [x + 8 * dx, y + 8 * dy];
  return draw("polygon", { points: `${x},${y} ${bx + 4 * dy},${by + 4 * dx} ${bx - 4 * dy},${by - 4 * dx}`, fill: "var(--fg-faint)" });
}

// --- sequence diagrams

const SIGNAL = /^(.+?)\s*(-{1,2})(>>|>|x|\))\s*[+-]?\s*(.+?)\s*:\s*(.*)$/;

function sequence(lines: readonly string[]): SVGElement | null {
  const names = new Map<string, string>();
  const rows: { from: string; to: string; text: string; kind: "signal" | "reply" | "note" | "frame" }[] = [];
  const add = (name: string) => {
    if (!names.has(name)) names.set(name, name);
    return name;
  };
  for (const line of lines) {
    const participant = /^(?:participant|actor)\s+(\S+)(?:\s+as\s+(.+))?$/.exec(line);
    const note = /^note\s+(?:over|left of|right of)\s+([^:,]+)(?:,\s*([^:]+))?:\s*(.*)$/i.exec(line);
    const signal = SIGNAL.exec(line);
    if (participant !== null) names.set(participant[1] ?? "", clean(participant[2] ?? participant[1] ?? ""));
    else if (note !== null) rows.push({ from: add((note[1] ?? "").trim()), to: add((note[2] ?? note[1] ?? "").trim()), text: clean(note[3] ?? ""), kind: "note" });
    else if (signal !== null) rows.push({ from: add(signal[1] ?? ""), to: add(signal[4] ?? ""), text: clean(signal[5] ?? ""), kind: signal[2] === "--" ? "reply" : "signal" });
    else if (/^(?:loop|alt|else|opt|par|and|critical|break|rect)\b/.test(line)) rows.push({ from: "", to: "", text: clean(line), kind: "frame" });
    else if (!/^(?:end|autonumber|activate|deactivate|title)\b/.test(line)) return null;
  }
  if (names.size === 0 || names.size > 20 || rows.length > MOST) return null;
  const gap = Math.max(130, ...[...names.values()].map((name) => name.length * LETTER + 40), ...rows.filter((row) => row.kind !== "frame").map((row) => row.text.length * 6.4 * (row.from === row.to ? 0.6 : 1) + 24));
  const at = new Map([...names.keys()].map((name, number) => [name, gap / 2 + number * gap]));
  const height = 64 + rows.length * 38;
  const drawing = canvas(gap * names.size, height, texts.sequenceDiagram([...names.values()].join(", ")));
  for (const [name, label] of names) {
    const x = at.get(name) ?? 0;
    drawing.append(draw("line", { x1: x, y1: 40, x2: x, y2: height - 8, class: "diagram-line", "stroke-dasharray": "2 4" }));
    drawing.append(...drawBox({ id: name, lines: [label], shape: "box", width: label.length * LETTER + 24, height: 32, x, y: 22, rank: 0 }));
  }
  rows.forEach((row, number) => {
    const y = 76 + number * 38;
    const [x1, x2] = [at.get(row.from) ?? 0, at.get(row.to) ?? 0];
    if (row.kind === "frame") {
      drawing.append(draw("line", { x1: 0, y1: y, x2: gap * names.size, y2: y, class: "diagram-line", "stroke-dasharray": "1 3" }), ...textLines([row.text], gap * names.size * 0.5, y - 8, "diagram-label"));
    } else if (row.kind === "note") {
      drawing.append(...drawBox({ id: "", lines: [row.text], shape: "box", width: Math.max(row.text.length * LETTER + 20, Math.abs(x2 - x1) + 40), height: 26, x: (x1 + x2) / 2, y, rank: 0 }));
    } else if (x1 === x2) {
      drawing.append(draw("path", { d: `M${x1},${y - 6} h32 v14 h-28`, class: "diagram-line" }), head(x1, y + 8, [1, 0]), ...textLines([row.text], x1 + 40 + row.text.length * 3.2, y, "diagram-label"));
    } else {
      drawing.append(draw("line", { x1, y1: y, x2, y2: y, class: "diagram-line", "stroke-dasharray": row.kind === "reply" ? "5 4" : "none" }), head(x2, y, [x2 > x1 ? -1 : 1, 0]), ...textLines([row.text], (x1 + x2) / 2, y - 10, "diagram-label"));
    }
  });
  return drawing;
}

// --- shared

function clean(text: string): string {
  return text.replace(/^["']|["']$/g, "").replace(/<br\s*\/?>/gi, "\n").replace(/&quot;/g, '"').replace(/#quot;/g, '"').trim();
}

function canvas(width: number, height: number, label: string): SVGElement {
  return draw("svg", { viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, width: Math.ceil(width), height: Math.ceil(height), role: "img", "aria-label": label.slice(0, 500) });
}

function textLines(lines: readonly string[], x: number, y: number, name = ""): SVGElement[] {
  return lines.map((line, at) => {
    const text = draw("text", { x, y: y + (at - (lines.length - 1) / 2) * LINE, "text-anchor": "middle", "dominant-baseline": "central", class: name });
    text.textContent = line;
    return text;
  });
}

function draw(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(SPACE, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}
