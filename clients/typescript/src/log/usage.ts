/** Tokens, in buckets that do not overlap. A bucket that is missing is unknown, which is not zero. */

import type { Usage } from "../content.js";

const BUCKETS = ["input", "cache_read", "cache_write", "output", "reasoning"] as const;

export function addUsage(left: Usage, right: Usage): Usage {
  const sum: Usage = {};
  for (const bucket of BUCKETS) {
    const a = left[bucket] ?? undefined;
    const b = right[bucket] ?? undefined;
    if (a !== undefined || b !== undefined) sum[bucket] = (a ?? 0) + (b ?? 0);
  }
  return sum;
}

export function totalOf(usage: Usage): number | null {
  let total: number | null = null;
  for (const bucket of BUCKETS) {
    const tokens = usage[bucket];
    if (tokens !== undefined && tokens !== null) total = (total ?? 0) + tokens;
  }
  return total;
}
