/** The widths that a change applies to: those up to the breakpoint that is shown, or all. */

import { editScope as texts } from "../../texts/visual";
import type { Device } from "../stage";

export interface Scope {
  /** The change holds in windows narrower than this; 0 is every width. */
  below: number;
  label: string;
}

const ALL: Scope = { below: 0, label: texts.allWidths };
const TABLET: Scope = { below: 1024, label: texts.upTo1023Px };
const PHONE: Scope = { below: 640, label: texts.upTo639Px };

/** What can be chosen at a width; the first is the default. */
export function scopesOf(device: Device): readonly Scope[] {
  return device === "mobile" ? [PHONE, TABLET, ALL] : device === "tablet" ? [TABLET, ALL] : [ALL];
}
