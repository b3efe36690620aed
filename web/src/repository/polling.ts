/** Looks at a value of the server again and again while the page is seen. */

import { useEffect } from "react";
import type { Fetched } from "../shell/fetched";

/** Fetches again a pause (in milliseconds) after each answer, so that a slow server is not asked twice at once. */
export function usePolling<T>({ isFetching, reload }: Pick<Fetched<T>, "isFetching" | "reload">, pause: number): void {
  useEffect(() => {
    if (isFetching) return undefined;
    const look = () => {
      if (document.hidden) timer = window.setTimeout(look, pause);
      else reload();
    };
    let timer = window.setTimeout(look, pause);
    return () => window.clearTimeout(timer);
  }, [isFetching, reload, pause]);
}
