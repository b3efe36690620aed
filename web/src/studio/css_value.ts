/** Values of CSS, as a person writes them into a field. */

/** The properties that are changed by hand, and what a value of each looks like. */
export const PROPERTIES = {
  color: "a colour, such as #0f766e or teal",
  "background-color": "a colour, such as #0f766e or teal",
  "font-size": "a font size, such as 18px or 1.2rem",
  "font-family": "a font, such as Georgia, serif",
  "font-weight": "a font weight, such as 400 or bold",
  padding: "a padding, such as 8px or 8px 16px",
  margin: "a margin, such as 8px or 0 auto",
} as const;

export type Property = keyof typeof PROPERTIES;

/** What is wrong with a value; empty if nothing is. An empty value removes what the element sets itself. */
export function faultOf(property: Property, value: string, supports: (property: string, value: string) => boolean = CSS.supports.bind(CSS)): string {
  const written = value.trim();
  return written === "" || supports(property, written) ? "" : `“${written}” is not ${PROPERTIES[property]}.`;
}
