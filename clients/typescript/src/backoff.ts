/** The time before the next connection: half a second, doubling to fifteen, and different for each client. */

const FIRST = 500;
const MOST = 15_000;

export function delayBefore(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MOST, FIRST * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.5 + random() / 2));
}

/** Wait; rejects with the signal's reason when it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
