/** The parameters of a query such as "?page=2&sort=name". */
export function parseQuery(query) {
  const parameters = {};
  const pairs = new URLSearchParams(query);
  for (const key of new Set(pairs.keys())) {
    const values = pairs.getAll(key);
    parameters[key] = values.length === 1 ? values[0] : values;
  }
  return parameters;
}
