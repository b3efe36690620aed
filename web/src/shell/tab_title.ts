/** The name of the browser's tab: what is open in it comes first. */

import { useEffect } from "react";
import { tabTitle as texts } from "../texts/shell";

export function nameTab(title: string): void {
  document.title = title === "" ? texts.heald : texts.healdTitle(title);
}

export function useTabTitle(title: string): void {
  useEffect(() => nameTab(title), [title]);
}
