/** Words of a search that are still being typed are not searched for. */

import { useEffect, useState } from "react";

/** The text that was typed last when it has not changed for a pause (in milliseconds). An empty one needs no pause. */
export function useDelayed(text: string, pause: number): string {
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => setDelayed(text), text === "" ? 0 : pause);
    return () => window.clearTimeout(timer);
  }, [text, pause]);
  return text === "" ? "" : delayed;
}
