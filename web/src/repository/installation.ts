/** Installs the packages of a repository, and starts its dev server when they are there. */

import { type RepositoryView, runJob, showRepository, startServer } from "./calls";

/** Pause between two looks at the installation, in milliseconds. */
const PAUSE = 700;

/** Resolves to the repository with its dev server started, or as a failed or stopped installation left it. */
export async function installAndStart(name: string, onView: (view: RepositoryView) => void): Promise<RepositoryView> {
  let view = await runJob(name, "install");
  while (view.install?.status === "running") {
    onView(view);
    await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
    view = await showRepository(name);
  }
  return view.install?.status === "passed" && view.installed ? startServer(name) : view;
}
