/** Whether the window is as narrow as that of a phone, where the style sheets arrange the page in one column. */

import { useSyncExternalStore } from "react";

const query = () => matchMedia("(max-width: 800px)");

export function isNarrow(): boolean {
  return query().matches;
}

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, isNarrow);
}

function subscribe(listener: () => void): () => void {
  const narrow = query();
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}
