/** Paddings and margins: four sides, written as one value. */

export const SIDES = ["top", "right", "bottom", "left"] as const;
export type Side = (typeof SIDES)[number];

/** The four sides of a value such as `8px 16px`; null if it is not one. */
export function sidesOf(value: string): Record<Side, string> | null {
  const parts = value.trim().split(/\s+(?![^(]*\))/);
  const [top, right = top, bottom = top, left = right] = parts;
  if (top === undefined || top === "" || right === undefined || bottom === undefined || left === undefined || parts.length > 4) return null;
  return { top, right, bottom, left };
}

/** The shortest way to write four sides. */
export function writeSides({ top, right, bottom, left }: Readonly<Record<Side, string>>): string {
  if (left !== right) return [top, right, bottom, left].join(" ");
  if (top !== bottom) return [top, right, bottom].join(" ");
  return top === right ? top : `${top} ${right}`;
}

/** The sides of a space that change, each a property; all of them together if all change. */
export function changedSides(kind: "padding" | "margin", before: string, after: string): Record<string, string> {
  const [old, next] = [sidesOf(before), sidesOf(after)];
  if (old === null || next === null) return { [kind]: after.trim() };
  const changed = SIDES.filter((side) => old[side] !== next[side]);
  if (changed.length === SIDES.length) return { [kind]: writeSides(next) };
  return Object.fromEntries(changed.map((side) => [`${kind}-${side}`, next[side]]));
}
