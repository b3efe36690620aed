/** Makes code coloured, math readable and diagrams visible in text that is shown. Loaded when there is something of it. */

import { toDiagram } from "./diagram";
import { coloured } from "./highlight";
import { toMathMl } from "./math";

/** What an element may hold that is made richer. */
export const RICH = ".math:not(:has(math)), .code:not(.rich)";

export function enrich(element: Element): void {
  for (const math of element.querySelectorAll(".math:not(:has(math))")) {
    const text = math.textContent ?? "";
    const made = toMathMl(text.replace(/^(?:\$\$|\$|\\\(|\\\[)|(?:\$\$|\$|\\\)|\\\])$/g, "").trim(), math.localName === "div" || /^(?:\$\$|\\\[)/.test(text));
    if (made !== null) math.replaceChildren(made);
  }
  for (const box of element.querySelectorAll(".code:not(.rich)")) {
    const code = box.querySelector("code");
    const language = box.querySelector(".code-language")?.textContent ?? "";
    if (code === null || language === "") continue;
    box.classList.add("rich");
    const source = code.textContent ?? "";
    const drawing = language.toLowerCase() === "mermaid" ? toDiagram(source) : null;
    if (drawing !== null) {
      drawing.classList.add("diagram");
      box.querySelector("pre")?.before(drawing);
      box.classList.add("drawn");
      continue;
    }
    const parts = coloured(source, language);
    if (parts !== null) code.replaceChildren(parts);
  }
}
