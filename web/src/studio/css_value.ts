/** Values of CSS, as a person writes them into a field. */

import { cssValue as texts } from "../texts/project";

/** The properties that are changed by hand, and what a value of each looks like. */
export const PROPERTIES = {
  color: texts.aColour,
  "background-color": texts.aColour,
  "font-size": texts.fontSize,
  "font-family": texts.aFontSuchAsGeorgia,
  "font-weight": texts.fontWeight,
  padding: texts.aPaddingSuchAs8px,
  margin: texts.aMarginSuchAs8px,
} as const;

export type Property = keyof typeof PROPERTIES;

/** What is wrong with a value; empty if nothing is. An empty value removes what the element sets itself. */
export function faultOf(property: Property, value: string, supports: (property: string, value: string) => boolean = CSS.supports.bind(CSS)): string {
  const written = value.trim();
  return written === "" || supports(property, written) ? "" : texts.isNot(written, PROPERTIES[property]);
}
