/** The parameters of a query such as "?page=2&sort=name". */
export function parseQuery(query) {
  const parameters = {};
  for (const pair of query.replace(/^\?/, "").split("&")) {
    const [key, value] = pair.split("=");
    parameters[key] = value;
  }
  return parameters;
}
