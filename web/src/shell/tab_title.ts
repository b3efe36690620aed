/** The name of the browser's tab: what is open in it comes first. */

import { useEffect } from "react";

export function nameTab(title: string): void {
  document.title = title === "" ? "Heald" : `${title} · Heald`;
}

export function useTabTitle(title: string): void {
  useEffect(() => nameTab(title), [title]);
}
