/** What the page in the preview wrote to its console, or which of its requests failed. */

import { Button } from "../parts/button";
import { plain } from "../parts/format";
import { reportList as pageTexts } from "../texts/repository";
import type { Report } from "./preview_report";

interface Props {
  label: string;
  reports: readonly Report[];
  empty: string;
  onFix(texts: string[]): void;
}

export function ReportList({ label, reports, empty, onFix }: Props) {
  const errors = reports.filter((report) => report.level === "error").map((report) => report.text);
  if (reports.length === 0) return <p className="muted panel-empty">{empty}</p>;
  return (
    <>
      <ul className="report-list" tabIndex={0} aria-label={label}>
        {reports.map((report, at) => (
          <li key={at} className={report.level}>
            <span className="report-level">{report.level}</span>
            <span className="grow">{plain(report.text)}</span>
          </li>
        ))}
      </ul>
      {errors.length > 0 && (
        <div className="row panel-foot">
          <Button small look="primary" icon="tool" onClick={() => onFix(errors)}>
            {pageTexts.fixThis}
          </Button>
        </div>
      )}
    </>
  );
}
