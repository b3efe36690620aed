/** What the page in a preview says of itself. It is data: nothing in it is believed or run. */

export interface Report {
  kind: "console" | "network";
  level: "error" | "warn" | "info" | "log";
  text: string;
}

export type PreviewWord = { word: "report"; report: Report } | { word: "blocked"; host: string; text: string } | { word: "page"; path: string } | { word: "loading" };

/** Reports of one kind that are kept. */
export const MOST_REPORTS = 300;

const LEVELS: readonly string[] = ["error", "warn", "info", "log"];

/** Adds a report. The oldest one of its kind makes room: many requests leave the console whole. */
export function withReport(reports: readonly Report[], report: Report): readonly Report[] {
  const isFull = reports.filter((other) => other.kind === report.kind).length >= MOST_REPORTS;
  const oldest = isFull ? reports.findIndex((other) => other.kind === report.kind) : -1;
  return [...reports.filter((_, at) => at !== oldest), report];
}

/** Reads a message; null if it is not one of a preview. */
export function readWord(data: unknown): PreviewWord | null {
  if (typeof data !== "object" || data === null) return null;
  const fields = data as Record<string, unknown>;
  const text = (name: string) => (typeof fields[name] === "string" ? fields[name].slice(0, 4000) : "");
  switch (fields["heald"]) {
    case "report": {
      const level = LEVELS.includes(text("level")) ? (text("level") as Report["level"]) : "log";
      return { word: "report", report: { kind: fields["kind"] === "network" ? "network" : "console", level, text: text("text") } };
    }
    case "blocked":
      return { word: "blocked", host: text("host"), text: text("text") };
    case "page":
      return { word: "page", path: text("path") };
    case "loading":
      return { word: "loading" };
    default:
      return null;
  }
}
