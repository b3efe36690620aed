/** Renderings at a pace: what changes often is rendered seldom. */

/** Something that is wanted often and done seldom: at once the first time, then at most once in a while. */
interface Paced {
  /** It is wanted. What is wanted before its time comes is done once, when it has come. */
  want(): void;
  stop(): void;
}

/** `pause` is the least time between two calls, in milliseconds. */
export function paced(call: () => void, pause: number): Paced {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  const run = () => {
    timer = undefined;
    last = performance.now();
    call();
  };
  return {
    want: () => {
      if (timer !== undefined) return;
      const wait = last + pause - performance.now();
      if (wait <= 0) run();
      else timer = setTimeout(run, wait);
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
