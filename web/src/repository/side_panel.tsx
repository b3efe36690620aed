/** What goes on behind the preview: its console, its requests, the dev server, the tests and the difference. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Diff } from "../parts/diff";
import { Segmented } from "../parts/segmented";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { usePolling } from "../shell/polling";
import { repairText } from "../studio/console";
import { sidePanel as pageTexts } from "../texts/repository";
import { runJob, showDiff, stopJob, type RepositoryView } from "./calls";
import { OutputText } from "./output_text";
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
  const fixErrors = (texts: string[]) => onFix(pageTexts.fixErrors, repairText(texts));
  return (
    <section className="side-panel" aria-label={pageTexts.behindThePreview}>
      <Segmented
        tabs
        label={pageTexts.behindThePreview}
        value={tab}
        onChange={setTab}
        choices={[
          { value: "console", label: counted(pageTexts.console, consoleReports) },
          { value: "network", label: counted(pageTexts.network, network) },
          { value: "server", label: pageTexts.devServer },
          { value: "tests", label: pageTexts.tests },
          ...(view.branch === null ? [] : [{ value: "diff" as const, label: pageTexts.changes }]),
        ]}
      />
      <div className="side-panel-body">
        {tab === "console" && <ReportList label={pageTexts.console} reports={consoleReports} empty={pageTexts.thePageHasWrittenNothing} onFix={fixErrors} />}
        {tab === "network" && <ReportList label={pageTexts.network} reports={network} empty={pageTexts.thePageHasNotRequested} onFix={fixErrors} />}
        {tab === "server" && <OutputText label={pageTexts.outputOfTheDevServer} text={view.output} empty={pageTexts.theDevServerHasPrinted} />}
        {tab === "tests" && <Tests name={name} view={view} onFix={onFix} onView={onView} />}
        {tab === "diff" && <Changes name={name} />}
      </div>
    </section>
  );
}

function Tests({ name, view, onFix, onView }: Pick<Props, "name" | "view" | "onFix" | "onView">) {
  const { test } = view;
  if (view.commands === null || view.commands.test === "") return <p className="muted panel-empty">{pageTexts.noTestScript}</p>;
  const isRunning = test?.status === "running";
  const act = (step: Promise<RepositoryView>) => void step.then(onView).catch(showFailure);
  return (
    <>
      <div className="row panel-foot">
        {isRunning ? (
          <Button small icon="stop" onClick={() => act(stopJob(name, "test"))}>
            {pageTexts.stop}
          </Button>
        ) : (
          <Button small icon="check" disabled={!view.commands.agreed} onClick={() => act(runJob(name, "test"))}>
            {pageTexts.runTests}
          </Button>
        )}
        {test !== null && <span className={`badge ${test.status === "failed" ? "bad" : test.status === "passed" ? "ok" : ""}`}>{test.status}</span>}
        {test?.status === "failed" && (
          <Button small look="primary" icon="tool" onClick={() => onFix(pageTexts.fixTests, repairTests(test.command, test.output))}>
            {pageTexts.fixThis}
          </Button>
        )}
      </div>
      <OutputText label={pageTexts.outputOfTheTests} text={test?.output ?? ""} empty={pageTexts.theTestsHaveNotRun} />
    </>
  );
}

function repairTests(command: string, output: string): string {
  return `${command} fails. Find the cause and repair it. The end of its output:\n\n${output.slice(-4000)}`;
}

function Changes({ name }: Pick<Props, "name">) {
  const diff = useFetched(`diff of ${name}`, () => showDiff(name), { isVolatile: true });
  usePolling(diff, DIFF_PAUSE);
  if (diff.value === null) return <p className="muted panel-empty">{diff.error?.message ?? pageTexts.loading}</p>;
  if (diff.value.diff === "") return <p className="muted panel-empty">{pageTexts.noFileHasChanged}</p>;
  return <Diff heads text={diff.value.diff} label={pageTexts.changes} />;
}
