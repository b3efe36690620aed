import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { paced } from "../src/live/pace";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("pace", () => {
  test("calls at once, then seldom, and never forgets the last", () => {
    const calls: number[] = [];
    const { want } = paced(() => calls.push(performance.now()), 100);
    const start = performance.now();
    for (let at = 0; at < 25; at += 1) {
      want();
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(500);
    expect(calls.map((time) => time - start)).toEqual([0, 100, 200, 300]);
  });

  test("is over when it is stopped", () => {
    const call = vi.fn();
    const { want, stop } = paced(call, 100);
    want();
    want();
    stop();
    vi.advanceTimersByTime(1_000);
    expect(call).toHaveBeenCalledTimes(1);
  });
});
