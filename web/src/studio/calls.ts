/** Calls of the studio that the client has no methods for. */

import type { ProjectView } from "../wire/api";
import { get, post, put, remove, route } from "../wire/rest";

export interface KeyTest {
  ok: boolean;
  message: string;
}

/** Named rules of a design: colours, fonts, components. */
export interface DesignSystem {
  id: string;
  name: string;
  content: string;
}

export const designSystems = {
  list: () => get<DesignSystem[]>(route("api", "design-systems")),
  add: (name: string, content: string) => post<DesignSystem>(route("api", "design-systems"), { name, content }),
  remove: (id: string) => remove(route("api", "design-systems", id)),
};

/** The token that designs of Figma are read with. */
export const figmaKeys = {
  store: (_: string, key: string) => put<unknown>(route("studio", "figma", "key"), { key }),
  remove: () => remove(route("studio", "figma", "key")),
  test: () => post<KeyTest>(route("studio", "figma", "test")),
};

export const keys = {
  store: (provider: string, key: string) => put<unknown>(route("providers", provider, "key"), { key }),
  remove: (provider: string) => remove(route("providers", provider, "key")),
  test: (provider: string) => post<KeyTest>(route("providers", provider, "test")),
};

/** A project of one's own from a finished one of the gallery. */
export const openFinished = (name: string) => post<ProjectView>(route("studio", "gallery", name));
