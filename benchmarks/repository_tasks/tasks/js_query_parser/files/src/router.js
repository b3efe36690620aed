import { parseQuery } from "./query.js";

export function route(address) {
  const [path, query = ""] = address.split("?");
  return { path, query: parseQuery(query) };
}
