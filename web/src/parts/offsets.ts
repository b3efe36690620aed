/** Where each item of a long list begins, from what is known of their heights. Only what changed is added up anew. */

export class Offsets {
  private items: readonly { key: string }[] = [];
  private heights = new Map<string, number>();
  private sums = new Float64Array(64);
  /** As many items have their place; those behind have none yet. */
  private measured = 0;

  constructor(private readonly estimate: number) {}

  /** The list as it is now. It may have grown since; one that changed otherwise is another array. */
  update(items: readonly { key: string }[]): void {
    if (items !== this.items || items.length < this.measured) this.measured = 0;
    this.items = items;
    if (this.sums.length <= items.length) {
      const longer = new Float64Array(2 * items.length);
      longer.set(this.sums);
      this.sums = longer;
    }
    for (let at = this.measured; at < items.length; at += 1) {
      this.sums[at + 1] = (this.sums[at] ?? 0) + (this.heights.get(items[at]?.key ?? "") ?? this.estimate);
    }
    this.measured = items.length;
  }

  /** An item was seen to be so high. Says whether that is new. */
  measure(at: number, height: number): boolean {
    const key = this.items[at]?.key;
    if (key === undefined || this.heights.get(key) === height) return false;
    this.heights.set(key, height);
    this.measured = Math.min(this.measured, at);
    return true;
  }

  get total(): number {
    return this.at(this.items.length);
  }

  at(index: number): number {
    return this.sums[index] ?? 0;
  }

  /** The items that lie between two heights, and one more at either side: the first, and the one behind the last. */
  between(top: number, bottom: number): [number, number] {
    return [Math.max(0, this.search(top) - 1), Math.min(this.items.length, this.search(bottom) + 1)];
  }

  /** The first place that is not above `value`. */
  private search(value: number): number {
    let low = 0;
    let high = this.items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at(middle) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
