/** The elements of a list without repetitions. */
export function unique(list) {
  return [...new Set(list)];
}

/** The last element of a list, or undefined. */
export function last(list) {
  return list[list.length - 1];
}
