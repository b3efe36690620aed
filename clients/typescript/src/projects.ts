/** Calls of the API about projects of the studio. */

import type { Cause, Diffs, NewProject, ProjectsView, ProjectView, QueuedChangeView, ScoreView, StudioFiles, VersionView } from "./api.generated.js";
import type { EditBody, ElementBody, ElementsBody, PageBody, PartBody, PushResult, RestoreBody, ShareView, SharesView, UpdateBody } from "./api.generated.js";
import { filePath, type HttpClient, queryOf } from "./http.js";

/** One variant of a version. */
export interface Base {
  version: string;
  variant: number;
}

export class ProjectsApi {
  constructor(private readonly http: HttpClient) {}

  list(search = "", after: string | null = null, limit = 50): Promise<ProjectsView> {
    return this.http.get(this.http.route("projects") + queryOf({ search, limit, after }));
  }

  one(id: string): Promise<ProjectView> {
    return this.http.get(this.http.route("projects", id));
  }

  create(body: NewProject): Promise<ProjectView> {
    return this.http.post(this.http.route("projects"), body);
  }

  rename(id: string, title: string): Promise<ProjectView> {
    return this.http.patch(this.http.route("projects", id), { title });
  }

  remove(id: string): Promise<void> {
    return this.http.remove(this.http.route("projects", id));
  }

  addVersion(id: string, body: UpdateBody | EditBody | ElementBody | ElementsBody | PageBody | RestoreBody): Promise<VersionView> {
    return this.http.post(this.http.route("projects", id, "versions"), body);
  }

  /** Queue a change on the server until the variant is done. */
  queueChange(id: string, body: UpdateBody): Promise<QueuedChangeView> {
    return this.http.post(this.http.route("projects", id, "queue"), body);
  }

  /** A waiting change as it was sent. */
  queuedChange(id: string, change: string): Promise<UpdateBody> {
    return this.http.get(this.http.route("projects", id, "queue", change));
  }

  removeQueued(id: string, change: string): Promise<void> {
    return this.http.remove(this.http.route("projects", id, "queue", change));
  }

  /** Let a change that failed wait for its turn again. */
  sendQueued(id: string, change: string): Promise<ProjectView> {
    return this.http.post(this.http.route("projects", id, "queue", change, "send"));
  }

  /** Undo the last action. With the id of an action, another one is refused. */
  undo(id: string, action = ""): Promise<ProjectView> {
    return this.http.post(this.http.route("projects", id, "undo"), { action });
  }

  /** Do again what was undone last. */
  redo(id: string, action = ""): Promise<ProjectView> {
    return this.http.post(this.http.route("projects", id, "redo"), { action });
  }

  /** `retry` adds a try and keeps the earlier ones; `remove` can be undone. */
  act(id: string, base: Base, action: "cancel" | "retry" | "choose" | "remove"): Promise<VersionView> {
    return this.http.post(this.at(id, base, action));
  }

  /** Show another try of a variant, by its number, counted from 1. */
  chooseTry(id: string, base: Base, number: number): Promise<VersionView> {
    return this.http.post(this.http.route("projects", id, "versions", base.version, "variants", base.variant, "tries", number, "choose"));
  }

  /** Retry the variants of a version that failed. */
  retryFailed(id: string, version: string): Promise<VersionView> {
    return this.http.post(this.http.route("projects", id, "versions", version, "retry"));
  }

  files(id: string, base: Base): Promise<StudioFiles> {
    return this.http.get(this.at(id, base, "files"));
  }

  /** The address of a file. */
  file(id: string, base: Base, path: string): string {
    return `${this.at(id, base, "files")}/${filePath(path)}`;
  }

  readFile(id: string, base: Base, path: string): Promise<Uint8Array> {
    return this.http.bytes(this.file(id, base, path));
  }

  diff(id: string, base: Base, against: Base): Promise<Diffs> {
    return this.http.get(this.at(id, base, "diff") + queryOf({ against: `${against.version}.${against.variant}` }));
  }

  /** The address of all files in one, or of one page that needs nothing else. */
  exportPath(id: string, base: Base, format: "zip" | "html", page = ""): string {
    return this.at(id, base, "export") + queryOf(page === "" ? { format } : { format, page });
  }

  /** Push the versions that led to a variant to a git remote. */
  push(id: string, base: Base, remote: string, branch = ""): Promise<PushResult> {
    return this.http.post(this.at(id, base, "push"), { remote, branch });
  }

  score(id: string, base: Base): Promise<ScoreView> {
    return this.http.get(this.at(id, base, "score"));
  }

  /** Where an element of a page comes from; `path` is its selector as the preview reports it. */
  cause(id: string, base: Base, path: string, page = ""): Promise<Cause> {
    return this.http.get(this.at(id, base, "cause") + queryOf(page === "" ? { path } : { path, page }));
  }

  /** Put an element of another variant into this one, with the rules that style it. */
  addPart(id: string, base: Base, body: PartBody): Promise<VersionView> {
    return this.http.post(this.at(id, base, "parts"), body);
  }

  /** The address of a screenshot. */
  screenshot(id: string, base: Base, width: number): string {
    return this.at(id, base, "screenshot") + queryOf({ width });
  }

  /** The address of a target picture. */
  target(id: string, blob: string): string {
    return this.http.route("projects", id, "targets", blob);
  }

  /** The links of a project. */
  async shares(id: string): Promise<ShareView[]> {
    const answer: SharesView = await this.http.get(this.http.route("projects", id, "shares"));
    return answer.shares;
  }

  /** Make a link. Only this answer has its path and its secret. */
  share(id: string, writable = false): Promise<ShareView> {
    return this.http.post(this.http.route("projects", id, "shares"), { writable });
  }

  /** Make a link invalid. */
  revokeShare(id: string, share: string): Promise<void> {
    return this.http.remove(this.http.route("projects", id, "shares", share));
  }

  private at(id: string, base: Base, last: string): string {
    return this.http.route("projects", id, "versions", base.version, "variants", base.variant, last);
  }
}
