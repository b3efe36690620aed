/** The elements of a list without repetitions. */
export function unique(list) {
  return [...new Set(list)];
}

export function chunk(list, size) {
  if (size < 1) throw new RangeError("size");
  const chunks = [];
  while (list.length) chunks.push(list.splice(0, size));
  return chunks;
}

/** The last element of a list, or undefined. */
export function last(list) {
  return list[list.length - 1];
}
