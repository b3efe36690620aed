/** Error boundaries: a part that cannot be shown says so, with what to do and what to report, and the rest of the page goes on. */

import { Component, type ErrorInfo, type ReactNode } from "react";
import { boundary as texts } from "../texts/parts";
import { Button } from "./button";
import { copyWithToast } from "./clipboard";
import { Icon } from "./icon";
import { reloadPage } from "./reload";

/** page: all of it. view: what an address shows, with its heading. panel: a part of a view. item: one of a list. */
export type BoundaryLevel = "page" | "view" | "panel" | "item";

interface Props {
  level: BoundaryLevel;
  /** Another value means that something else is shown, and so that it is tried anew. */
  resetKey?: unknown;
  children: ReactNode;
}

interface State {
  error: Error | null;
  /** The components around the one that failed. */
  components: string;
}

const SENTENCES: Record<BoundaryLevel, string> = {
  page: texts.thePageCannotBeShown,
  view: texts.thisViewCannotBeShown,
  panel: texts.thisPartOfThePage,
  item: texts.thisItemCannotBeShown,
};

/** An error whose message says what happened and what to do. It is shown instead of the usual sentence. */
export class ExplainedError extends Error {
  override name = "ExplainedError";
}

export class Boundary extends Component<Props, State> {
  override state: State = { error: null, components: "" };

  static getDerivedStateFromError(thrown: unknown): Partial<State> {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override componentDidCatch(_: unknown, { componentStack }: ErrorInfo): void {
    this.setState({ components: componentStack ?? "" });
  }

  override componentDidUpdate(before: Props): void {
    if (this.state.error !== null && before.resetKey !== this.props.resetKey) this.setState({ error: null, components: "" });
  }

  override render(): ReactNode {
    const { error, components } = this.state;
    if (error === null) return this.props.children;
    return <Failure level={this.props.level} error={error} report={reportOf(error, components)} />;
  }
}

function Failure({ level, error, report }: { level: BoundaryLevel; error: Error; report: string }) {
  const isSmall = level === "item";
  const sentence = error instanceof ExplainedError ? error.message : SENTENCES[level];
  return (
    <div className={isSmall ? "boundary note error" : "boundary empty grow"} role="alert">
      <Icon name="alert" size={isSmall ? 14 : 20} />
      <div className="boundary-text stack">
        {level === "page" || level === "view" ? <h1>{sentence}</h1> : <p>{sentence}</p>}
        {!isSmall && <p className="faint">{texts.whatYouWroteIsKept}</p>}
        <div className="row wrap">
          <Button small={isSmall} look={isSmall ? "plain" : "primary"} icon="reload" onClick={reloadPage}>
            {texts.reloadThePage}
          </Button>
          <Button small={isSmall} icon="copy" onClick={() => void copyWithToast(report)}>
            {texts.copyTheReport}
          </Button>
        </div>
        <details>
          <summary>{texts.details}</summary>
          <pre className="code-box" tabIndex={0}>
            {report}
          </pre>
        </details>
      </div>
    </div>
  );
}

/** What somebody who mends the page needs to know. It has no content of the conversation besides the error's own words. */
function reportOf(error: Error, components: string): string {
  const lines = [
    `${error.name}: ${error.message}`,
    `view: ${location.hash.split("/")[1] || "start"}`, // the rest of an address names sessions and projects
    `browser: ${navigator.userAgent}`,
    error.cause instanceof Error ? `cause: ${error.cause.message}` : "",
    error.stack ?? "",
    components === "" ? "" : `components:${components}`,
  ];
  return lines.filter((line) => line !== "").join("\n");
}
