import { describe, expect, it } from "vitest";
import { wholePercent } from "../src/parts/format";

describe("a share in whole percent", () => {
  it.each([
    [1, "100 %"],
    [0.9999, "99 %"],
    [0.995, "99 %"],
    [0.29, "29 %"],
    [0, "0 %"],
  ])("%d is not rounded up", (share, text) => expect(wholePercent(share)).toBe(text));
});
