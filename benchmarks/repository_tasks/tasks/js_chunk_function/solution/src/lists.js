/** The elements of a list without repetitions. */
export function unique(list) {
  return [...new Set(list)];
}

/** Splits a list into lists of at most `size` elements. */
export function chunk(list, size) {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`The size is ${size}; it must be a positive integer.`);
  }
  const chunks = [];
  for (let start = 0; start < list.length; start += size) {
    chunks.push(list.slice(start, start + size));
  }
  return chunks;
}

/** The last element of a list, or undefined. */
export function last(list) {
  return list[list.length - 1];
}
