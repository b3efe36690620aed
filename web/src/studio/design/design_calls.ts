/** Calls of design systems. */

import type { DesignScore, DesignSourceBody, DesignView } from "@heald/client";
import type { Base } from "../../wire/api";
import { get, post, put, route } from "../../wire/rest";

export const designs = {
  read: (source: DesignSourceBody) => post<DesignView>(route("studio", "design"), source),
  of: (project: string) => get<DesignView>(route("projects", project, "design")),
  change: (project: string, text: string) => put<DesignView>(route("projects", project, "design"), { text }),
  file: (project: string) => route("projects", project, "design.md"),
  score: (project: string, base: Base, page: string) => get<DesignScore>(`${route("projects", project, "versions", base.version, "variants", base.variant, "design")}${page === "" ? "" : `?page=${encodeURIComponent(page)}`}`),
};
