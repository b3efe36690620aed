/** What goes on behind the preview: its console, its requests, the dev server, the tests and the difference. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Diff } from "../parts/diff";
import { Segmented } from "../parts/segmented";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { repairText } from "../studio/console";
import { runJob, showDiff, stopJob, type RepositoryView } from "./calls";
import { OutputText } from "./output_text";
import { usePolling } from "./polling";
import type { Report } from "./preview_report";
import { ReportList } from "./report_list";

/** Pause between two looks at the changes, in milliseconds. */
const DIFF_PAUSE = 2000;

type Tab = "console" | "network" | "server" | "tests" | "diff";

interface Props {
  name: string;
  view: RepositoryView;
  reports: readonly Report[];
  /** Sends a request; the title names the change if none is open. */
  onFix(title: string, request: string): void;
  onView(view: RepositoryView): void;
}

export function SidePanel({ name, view, reports, onFix, onView }: Props) {
  const [tab, setTab] = useState<Tab>("console");
  const consoleReports = reports.filter((report) => report.kind === "console");
  const network = reports.filter((report) => report.kind === "network");
  const counted = (label: string, list: readonly Report[]) => {
    const errors = list.filter((report) => report.level === "error").length;
    return errors > 0 ? `${label} ${errors}` : label;
  };
  const fixErrors = (texts: string[]) => onFix("Fix errors", repairText(texts));
  return (
    <section className="side-panel" aria-label="Behind the preview">
      <Segmented
        tabs
        label="Behind the preview"
        value={tab}
        onChange={setTab}
        choices={[
          { value: "console", label: counted("Console", consoleReports) },
          { value: "network", label: counted("Network", network) },
          { value: "server", label: "Dev server" },
          { value: "tests", label: "Tests" },
          ...(view.branch === null ? [] : [{ value: "diff" as const, label: "Changes" }]),
        ]}
      />
      <div className="side-panel-body">
        {tab === "console" && <ReportList label="Console" reports={consoleReports} empty="The page has written nothing to its console." onFix={fixErrors} />}
        {tab === "network" && <ReportList label="Network" reports={network} empty="The page has not requested anything yet." onFix={fixErrors} />}
        {tab === "server" && <OutputText label="Output of the dev server" text={view.output} empty="The dev server has printed nothing yet." />}
        {tab === "tests" && <Tests name={name} view={view} onFix={onFix} onView={onView} />}
        {tab === "diff" && <Changes name={name} />}
      </div>
    </section>
  );
}

function Tests({ name, view, onFix, onView }: Pick<Props, "name" | "view" | "onFix" | "onView">) {
  const { test } = view;
  if (view.commands === null || view.commands.test === "") return <p className="muted panel-empty">The package.json has no script named test.</p>;
  const isRunning = test?.status === "running";
  const act = (step: Promise<RepositoryView>) => void step.then(onView).catch(showFailure);
  return (
    <>
      <div className="row panel-foot">
        {isRunning ? (
          <Button small icon="stop" onClick={() => act(stopJob(name, "test"))}>
            Stop
          </Button>
        ) : (
          <Button small icon="check" disabled={!view.commands.agreed} onClick={() => act(runJob(name, "test"))}>
            Run tests
          </Button>
        )}
        {test !== null && <span className={`badge ${test.status === "failed" ? "bad" : test.status === "passed" ? "ok" : ""}`}>{test.status}</span>}
        {test?.status === "failed" && (
          <Button small look="primary" icon="tool" onClick={() => onFix("Fix tests", repairTests(test.command, test.output))}>
            Fix this
          </Button>
        )}
      </div>
      <OutputText label="Output of the tests" text={test?.output ?? ""} empty="The tests have not run yet." />
    </>
  );
}

function repairTests(command: string, output: string): string {
  return `${command} fails. Find the cause and repair it. The end of its output:\n\n${output.slice(-4000)}`;
}

function Changes({ name }: Pick<Props, "name">) {
  const diff = useFetched(`diff of ${name}`, () => showDiff(name), { isVolatile: true });
  usePolling(diff, DIFF_PAUSE);
  if (diff.value === null) return <p className="muted panel-empty">{diff.error?.message ?? "Loading…"}</p>;
  if (diff.value.diff === "") return <p className="muted panel-empty">No file has changed.</p>;
  return <Diff heads text={diff.value.diff} label="Changes" />;
}
