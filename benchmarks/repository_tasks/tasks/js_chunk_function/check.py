import json

from referee import node

script = """
import { chunk, unique, last, clamp } from "./src/index.js";
import * as lists from "./src/lists.js";
const list = [1, 2, 3, 4, 5];
const errors = [0, -1, 1.5, NaN].map((size) => {
  try { chunk(list, size); return "none"; } catch (error) { return error instanceof RangeError; }
});
console.log(JSON.stringify([
  chunk(list, 2), chunk(list, 5), chunk(list, 9), chunk([], 3), list, errors,
  lists.chunk === chunk, unique([1, 1]), last(list), clamp(9, 0, 5),
]));
"""
result = json.loads(node(script))
assert result[:5] == [[[1, 2], [3, 4], [5]], [[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]], [], [1, 2, 3, 4, 5]], result
assert result[5:] == [[True] * 4, True, [1], 5, 5], result
