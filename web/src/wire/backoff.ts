/** How long to wait before connecting again: half a second, doubling to fifteen, and never quite the same for all. */

const FIRST = 500;
const MOST = 15_000;

export function delayBefore(attempt: number, random: () => number = Math.random): number {
  const full = Math.min(MOST, FIRST * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.5 + random() / 2));
}
