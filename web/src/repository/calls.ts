/** The API of repositories: folders of the server with their dev servers and changes. */

import type { DiffView, PullRequestView, RepositoriesView, RepositoryView } from "@heald/client";
import { client, get, post, route } from "../wire/rest";

export type { RepositoryView };
export type Job = "install" | "test";

const at = (name: string, ...rest: string[]) => route("repositories", name, ...rest);

export const listRepositories = () => get<RepositoriesView>(route("repositories"));
export const showRepository = (name: string) => get<RepositoryView>(at(name));
export const agree = (name: string, digest: string) => post<RepositoryView>(at(name, "agree"), { digest });
export const allowHost = (name: string, host: string) => post<RepositoryView>(at(name, "hosts"), { host });
export const startServer = (name: string) => post<RepositoryView>(at(name, "dev"));
export const stopServer = (name: string) => withdraw(at(name, "dev"));
export const runJob = (name: string, job: Job) => post<RepositoryView>(at(name, job));
export const stopJob = (name: string, job: Job) => withdraw(at(name, job));
export const showDiff = (name: string) => get<DiffView>(at(name, "change"));
export const beginChange = (name: string, title: string) => post<RepositoryView>(at(name, "change"), { title });
export const leaveChange = (name: string) => withdraw(at(name, "change"));
export const commitChange = (name: string, message: string) => post<RepositoryView>(at(name, "change", "commit"), { message });
export const mergeChange = (name: string) => post<RepositoryView>(at(name, "change", "merge"));
export const openPullRequest = (name: string, title: string, body: string) =>
  post<PullRequestView>(at(name, "change", "pull-request"), { title, body });

async function withdraw(path: string): Promise<RepositoryView> {
  return (await client.http.response("DELETE", path)).json() as Promise<RepositoryView>;
}
