/** Where the page is, in the address' fragment. */

import { useEffect, useState } from "react";

export type Route =
  | { view: "start" }
  | { view: "session"; id: string; tab: string; event: number | null }
  | { view: "project"; id: string; version: string | null; tab: string; file: string | null }
  | { view: "repository"; name: string; tab: string }
  | { view: "decide"; id: string }
  | { view: "compare"; left: string; right: string }
  | { view: "sessions" }
  | { view: "settings" };

export function parse(hash: string): Route {
  const [view, id, ...rest] = hash.replace(/^#\/?/, "").split("/").map(decoded);
  switch (view) {
    case "session":
      return id ? { view: "session", id, tab: rest[0] ?? "chat", event: Number(rest[1]) || null } : { view: "start" };
    case "project":
      return id ? { view: "project", id, version: rest[1] ?? null, tab: rest[0] ?? "preview", file: rest[2] ?? null } : { view: "start" };
    case "compare":
      return id && rest[0] ? { view: "compare", left: id, right: rest[0] } : { view: "sessions" };
    case "repository":
      return id ? { view: "repository", name: id, tab: rest[0] ?? "chat" } : { view: "start" };
    case "decide":
      return id ? { view: "decide", id } : { view: "sessions" };
    case "sessions":
      return { view: "sessions" };
    case "settings":
      return { view: "settings" };
    default:
      return { view: "start" };
  }
}

/** A part of an address; one that is written wrongly stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(...names: string[]): string {
  return `#/${names.map(encodeURIComponent).join("/")}`;
}

export function go(...names: string[]): void {
  location.hash = address(...names);
}

/** Whether the page shows a project, at any version and tab of it. */
export function isProjectShown(id: string): boolean {
  const route = parse(location.hash);
  return route.view === "project" && route.id === id;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    window.addEventListener("hashchange", changed);
    return () => window.removeEventListener("hashchange", changed);
  }, []);
  return parse(hash);
}
