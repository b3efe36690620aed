/** What the server has: sessions, projects, models; as its API describes them. */

import type { ErrorInfo, FileBlock, ImageBlock, Message, TextBlock } from "../log/content";
import type { Usage } from "../log/usage";
import { filePath, get, patch, post, remove, route } from "./rest";

export interface SessionSettings {
  model?: string;
  tools?: string[];
  instructions?: string;
  permissions?: string;
  workspace?: string | null;
}

export interface SessionView {
  id: string;
  title: string;
  created: number | string;
  updated: number | string;
  last_seq: number;
  parent?: string | null;
  parent_seq?: number | null;
  settings: SessionSettings;
  busy?: boolean;
  queued: number;
  /** Sessions of variants belong to a project. */
  project?: string | null;
}

export interface ModelView {
  name: string;
  label?: string;
  provider?: string;
  available?: boolean;
  reason?: string;
}

export interface StudioView {
  stacks: { name: string; label: string }[];
  models: ModelView[];
  defaults: { stack: string; variants_create: number; variants_update: number; models?: string[] };
  has_keys: boolean;
  chromium: boolean;
  design_systems: string[];
  examples: { name: string; title: string; thumbnail?: string | null }[];
}

export interface Score {
  block?: number;
  text?: number;
  position?: number;
  colour?: number;
  ssim?: number;
  overall: number;
}

export type VariantStatus = "queued" | "running" | "completed" | "failed" | "cancelled" | "limit";

export interface VariantView {
  index: number;
  session: string;
  model: string;
  status: VariantStatus;
  started: number | string | null;
  ended: number | string | null;
  turns: number;
  usage: Usage;
  cost_usd: number | null;
  score: Score | null;
  error: ErrorInfo | null;
  /** What is unusual about its outcome, such as the limit that cut it off. */
  note: string | null;
  entry: string | null;
  /** Where its page is, for a frame. */
  preview: string;
}

export interface Base {
  version: string;
  variant: number;
}

export interface VersionView {
  id: string;
  number: number;
  kind: "create" | "update" | "edit" | "restore";
  base: Base | null;
  text: string;
  created: number | string;
  chosen: number;
  variants: VariantView[];
}

export interface ProjectView {
  id: string;
  title: string;
  stack: string;
  created: number | string;
  updated: number | string;
  targets?: { blob: string; width: number; height: number }[];
  versions?: VersionView[];
}

export interface FileEntry {
  path: string;
  size: number;
  hash?: string | null;
  revision?: number;
}

export interface Prompt {
  text?: string;
  images?: { data: string }[];
  videos?: { data: string }[];
  url?: string;
  html?: string;
  selected?: { html: string; path: string; index: number; count?: number; file?: string; line?: number };
}

export type Content = (TextBlock | ImageBlock | FileBlock)[];
export type WhenBusy = "queue" | "steer" | "interrupt" | "refuse";

export const sessions = {
  list: (search = "", after: string | null = null) =>
    get<{ sessions: SessionView[]; next: string | null }>(`${route("sessions")}?${query({ search, limit: "50", after })}`),
  one: (id: string) => get<SessionView>(route("sessions", id)),
  create: (settings: SessionSettings & { title?: string }) => post<SessionView>(route("sessions"), settings),
  change: (id: string, change: SessionSettings & { title?: string }) => patch<SessionView>(route("sessions", id), change),
  remove: (id: string) => remove(route("sessions", id)),
  send: (id: string, content: Content, whenBusy: WhenBusy = "queue") =>
    post<{ exchange: string; state: string }>(route("sessions", id, "messages"), {
      content,
      when_busy: whenBusy,
      client_request_id: crypto.randomUUID(),
    }),
  messages: (id: string) => get<{ messages: Message[] }>(route("sessions", id, "messages")),
  cancel: (id: string, exchange?: string) =>
    post<{ cancelled: boolean }>(route("sessions", id, "cancel"), exchange === undefined ? {} : { exchange }),
  decide: (id: string, approval: string, decision: { decision: "approve" | "deny"; digest?: string; always?: boolean; reason?: string }) =>
    post(route("sessions", id, "approvals", approval), decision),
  answer: (id: string, question: string, answer: string) => post(route("sessions", id, "questions", question), { answer }),
  fork: (id: string, at: number, title?: string) =>
    post<SessionView>(route("sessions", id, "fork"), title === undefined ? { at } : { at, title }),
  rewind: (id: string, seq: number) => post<SessionView>(route("sessions", id, "rewind"), { seq }),
  files: (id: string) => get<{ files: FileEntry[] }>(route("sessions", id, "files")),
  file: (id: string, path: string) => `${route("sessions", id, "files")}/${filePath(path)}`,
  blob: (id: string, sha: string) => route("sessions", id, "blobs", sha),
  exportPath: (id: string) => route("sessions", id, "export"),
};

export const projects = {
  list: (search = "") => get<{ projects: ProjectView[]; next: string | null }>(`${route("projects")}?${query({ search, limit: "50" })}`),
  one: (id: string) => get<ProjectView>(route("projects", id)),
  create: (body: { prompt: Prompt; stack: string; models?: string[]; variants?: number; design_system?: string; title?: string }) =>
    post<ProjectView>(route("projects"), body),
  rename: (id: string, title: string) => patch<ProjectView>(route("projects", id), { title }),
  remove: (id: string) => remove(route("projects", id)),
  addVersion: (
    id: string,
    body:
      | { kind: "update"; base: Base; prompt: Prompt; models?: string[]; variants?: number }
      | { kind: "edit"; base: Base; files: Record<string, string | null> }
      | { kind: "restore"; base: Base },
  ) => post<VersionView>(route("projects", id, "versions"), body),
  act: (id: string, base: Base, action: "cancel" | "retry" | "choose") => post<VersionView>(variantPath(id, base, action)),
  files: (id: string, base: Base) => get<{ files: FileEntry[] }>(variantPath(id, base, "files")),
  file: (id: string, base: Base, path: string) => `${variantPath(id, base, "files")}/${filePath(path)}`,
  diff: (id: string, base: Base, against: Base) =>
    get<{ files: { path: string; diff: string }[] }>(
      `${variantPath(id, base, "diff")}?against=${encodeURIComponent(`${against.version}.${against.variant}`)}`,
    ),
  exportPath: (id: string, base: Base, format: "zip" | "html") => `${variantPath(id, base, "export")}?format=${format}`,
  score: (id: string, base: Base) =>
    get<{ score: Score | null; differences: unknown[]; heatmap: string | null }>(variantPath(id, base, "score")),
  screenshot: (id: string, base: Base, width: number) => `${variantPath(id, base, "screenshot")}?width=${width}`,
  target: (id: string, blob: string) => route("projects", id, "targets", blob),
};

export const studio = () => get<StudioView>(route("studio"));
export const models = () => get<{ models: ModelView[]; default: string | null; fixed?: boolean }>(route("models"));
export const providers = () => get<{ providers: { name: string; key_set: boolean; variables?: string[] }[] }>(route("providers"));
export const tools = () => get<{ tools: { name: string; description: string; effect?: string }[] }>(route("tools"));
export const workspaces = () => get<{ workspaces: string[] }>(route("workspaces"));
export const health = () => get<{ status: string; version?: string; sandbox?: string }>(route("health"));

function variantPath(id: string, base: Base, last: string): string {
  return route("projects", id, "versions", base.version, "variants", base.variant, last);
}

function query(values: Record<string, string | null>): string {
  const given = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== "");
  return new URLSearchParams(given).toString();
}
