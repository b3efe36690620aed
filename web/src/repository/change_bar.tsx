/** The change of a repository: its branch, and the ways to keep it or to leave it. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { showFailure, showToast } from "../parts/toasts";
import { commitChange, leaveChange, mergeChange, openPullRequest, type RepositoryView } from "./calls";
import { TextDialog } from "./text_dialog";

interface Props {
  name: string;
  branch: NonNullable<RepositoryView["branch"]>;
  /** Words that describe the change. */
  title: string;
  onView(view: RepositoryView): void;
  onReload(): void;
}

export function ChangeBar({ name, branch, title, onView, onReload }: Props) {
  const [dialog, setDialog] = useState<"commit" | "request" | null>(null);
  const [link, setLink] = useState<{ branch: string; number: number; url: string } | null>(null);
  const run = (step: Promise<RepositoryView>, words: string) =>
    step
      .then((view) => {
        onView(view);
        showToast(words);
      })
      .catch((error: unknown) => {
        showFailure(error);
        onReload();
      });
  const count = branch.changed.length;
  const isOpen = branch.base !== "";
  const isReady = isOpen && count === 0 && branch.commits > 0;
  const request = (subject: string, body: string) =>
    openPullRequest(name, subject, body)
      .then((made) => {
        setLink({ branch: branch.branch, ...made });
        showToast(`Pull request ${made.number} is open.`);
      })
      .catch(showFailure);
  return (
    <div className="change-bar row">
      <span className="badge" title={isOpen ? `Began at ${branch.base}` : "The current branch"}>
        <Icon name="branch" size={12} />
        <span className="truncate">{branch.branch || "no branch"}</span>
      </span>
      {isOpen && (
        <span className="muted hide-small">
          {count > 0 ? `${count} ${count === 1 ? "file" : "files"} not committed` : `${branch.commits} ${branch.commits === 1 ? "commit" : "commits"} from ${branch.base}`}
        </span>
      )}
      {isOpen && count > 0 && (
        <Button small look="primary" icon="check" onClick={() => setDialog("commit")}>
          Commit
        </Button>
      )}
      {isReady && (
        <Button small icon="share" onClick={() => setDialog("request")}>
          Pull request
        </Button>
      )}
      {link !== null && link.branch === branch.branch && /^https?:/.test(link.url) && (
        <a className="button small quiet" href={link.url} target="_blank" rel="noopener noreferrer">
          #{link.number}
        </a>
      )}
      {isOpen && (
        <Menu
          label="More for this change"
          actions={[
            ...(isReady ? [{ label: `Merge into ${branch.base}`, icon: "check" as const, run: () => void run(mergeChange(name), `The change is in ${branch.base}.`) }] : []),
            { label: `Back to ${branch.base}, keep the branch`, icon: "undo", run: () => void run(leaveChange(name), `This is ${branch.base} again.`) },
          ]}
        />
      )}
      {dialog === "commit" && (
        <TextDialog
          title={`Commit to ${branch.branch}`}
          label="Message"
          initial={title}
          action="Commit"
          onSubmit={(message) => void run(commitChange(name, message), "The change is committed.")}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "request" && (
        <TextDialog
          title={`Pull request for ${branch.base}`}
          label="Title"
          initial={title}
          more="Description"
          action="Open pull request"
          onSubmit={(subject, body) => void request(subject, body)}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  );
}
