/** What the server has: sessions, projects, models; through its client. */

import type * as api from "@heald/client";
import { client } from "./rest";

export type {
  ActionView,
  Base,
  Cause,
  CauseLines,
  CausePlace,
  Content,
  LockView,
  ProjectView,
  ProvidersView,
  QueuedChangeView,
  ProviderView,
  StudioView,
  VariantView,
  VersionView,
  WhenBusy,
  Writing,
} from "@heald/client";
export type Prompt = api.PromptBody;
export type SessionSettings = Omit<api.SessionChange, "title">;
export type Permissions = NonNullable<SessionSettings["permissions"]>;
/** A model of a session, or one that builds pages. */
export type ModelView = Omit<api.ModelOffer, "label"> & { label?: string; reason?: string };
/** Sessions of variants belong to a project. */
export type SessionView = api.SessionView & { project?: string | null };

export const { sessions, projects } = client;
export const searchText = (text: string, after: string | null) => client.search(text, after);
export type SearchHit = api.SearchHit;
export const studio = () => client.studio();
export const models = async (): Promise<{ models: ModelView[]; default: string; session: api.SessionDefaults; fixed: boolean }> => {
  const { details, default: usual, session, fixed = false } = await client.models();
  return { models: details, default: usual, session, fixed };
};
export const providers = () => client.providers();
export const tools = () => client.tools();
export const workspaces = () => client.workspaces();
export const health = () => client.health();

export function isRunning(variant: api.VariantView | api.TryView): boolean {
  return variant.status === "running" || variant.status === "queued";
}

/** The variants of a version that nobody removed. */
export function presentVariants(version: api.VersionView): api.VariantView[] {
  return version.variants.filter((variant) => !variant.removed);
}

export function isBuilding(project: api.ProjectView): boolean {
  return (project.versions ?? []).some((version) => version.variants.some((variant) => variant.tries.some(isRunning)));
}
