/** An element that was picked in the page of a variant. */
export interface Part {
  variant: number;
  path: string;
  html: string;
}

/** The name of its tag. */
export function nameOf(part: Part): string {
  return /^[a-z][\w-]*/.exec(part.path.split(" > ").at(-1) ?? "")?.[0] ?? "element";
}

/** The path of the element around it; null if that is the page itself. */
export function pathAround(part: Part): string | null {
  const steps = part.path.split(" > ");
  return steps.length > 2 ? steps.slice(0, -1).join(" > ") : null;
}

export type PartPlace = "replace" | "before" | "after";

/** The request that lets a model put a part of one variant into another, where that cannot be done directly. */
export function partRequest(source: Part, place: PartPlace): string {
  const where = place === "replace" ? "Replace the selected element by" : `Directly ${place} the selected element put`;
  return `${where} the <${nameOf(source)}> of variant ${source.variant + 1}, with the look that it has there. Change nothing else. Its code in that variant:\n\n\`\`\`html\n${source.html}\n\`\`\``;
}
