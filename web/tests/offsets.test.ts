import { expect, test } from "vitest";
import { Offsets } from "../src/parts/offsets";

const ESTIMATE = 70;

function listOf(count: number, from = 0): { key: string }[] {
  return Array.from({ length: count }, (_, at) => ({ key: `k${from + at}` }));
}

/** What the offsets should be, added up from the beginning. */
function plainly(items: readonly { key: string }[], heights: ReadonlyMap<string, number>): number[] {
  const sums = [0];
  for (const item of items) sums.push((sums.at(-1) ?? 0) + (heights.get(item.key) ?? ESTIMATE));
  return sums;
}

test("are what adding up gives, whatever grew and was measured", () => {
  let state = 7;
  const chance = (most: number) => (state = (state * 48271) % 2147483647) % most;
  for (let round = 0; round < 12; round += 1) {
    const offsets = new Offsets(ESTIMATE);
    const heights = new Map<string, number>();
    let items = listOf(chance(90));
    offsets.update(items);
    for (let step = 0; step < 60; step += 1) {
      const what = chance(10);
      if (what < 4) items.push(...listOf(chance(5), 1000 * step + 100));
      else if (what === 4) items = items.filter((_, at) => at % 3 !== 0);
      else if (items.length > 0) {
        const at = chance(items.length);
        const height = 10 + chance(300);
        const key = items[at]?.key ?? "";
        offsets.update(items);
        expect(offsets.measure(at, height)).toBe(heights.get(key) !== height);
        heights.set(key, height);
      }
      offsets.update(items);
      const sums = plainly(items, heights);
      expect(sums.map((_, at) => offsets.at(at))).toEqual(sums);
      expect(offsets.total).toBe(sums.at(-1));
    }
  }
});

test("say what lies between two heights, and one more at either side", () => {
  const offsets = new Offsets(10);
  offsets.update(listOf(100));
  expect(offsets.between(0, 50)).toEqual([0, 6]);
  expect(offsets.between(500, 600)).toEqual([49, 61]);
  expect(offsets.between(-800, -10)).toEqual([0, 1]);
  expect(offsets.between(900, 9000)).toEqual([89, 100]);
  offsets.update([]);
  expect(offsets.between(0, 800)).toEqual([0, 0]);
});

test("a list of fifteen thousand that grows by one is not added up anew", () => {
  const offsets = new Offsets(10);
  const items = listOf(15_000);
  offsets.update(items);
  let asked = 0;
  const watched = new Proxy(items, {
    get(list, name) {
      if (typeof name === "string" && /^\d+$/.test(name)) asked += 1;
      return Reflect.get(list, name) as unknown;
    },
  });
  offsets.update(watched);
  asked = 0;
  items.push({ key: "new" });
  offsets.update(watched);
  expect(asked).toBe(1);
  expect(offsets.total).toBe(150_010);
});
