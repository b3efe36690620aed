/** The change of a repository: its branch, and the ways to keep it or to leave it. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Menu } from "../parts/menu";
import { showFailure, showToast } from "../parts/toasts";
import { changeBar as texts } from "../texts/repository";
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
        showToast(texts.pullRequestIsOpen(made.number));
      })
      .catch(showFailure);
  return (
    <div className="change-bar row">
      <span className="badge" title={isOpen ? texts.beganAt(branch.base) : texts.theCurrentBranch}>
        <Icon name="branch" size={12} />
        <span className="truncate">{branch.branch || texts.noBranch}</span>
      </span>
      {isOpen && (
        <span className="muted hide-small">
          {count > 0 ? texts.notCommitted(count) : texts.from(branch.commits, branch.base)}
        </span>
      )}
      {isOpen && count > 0 && (
        <Button small look="primary" icon="check" onClick={() => setDialog("commit")}>
          {texts.commit}
        </Button>
      )}
      {isReady && (
        <Button small icon="share" onClick={() => setDialog("request")}>
          {texts.pullRequest}
        </Button>
      )}
      {link !== null && link.branch === branch.branch && /^https?:/.test(link.url) && (
        <a className="button small quiet" href={link.url} target="_blank" rel="noopener noreferrer">
          #{link.number}
        </a>
      )}
      {isOpen && (
        <Menu
          label={texts.moreForThisChange}
          actions={[
            ...(isReady ? [{ label: texts.mergeInto(branch.base), icon: "check" as const, run: () => void run(mergeChange(name), texts.theChangeIsIn(branch.base)) }] : []),
            { label: texts.backToKeepTheBranch(branch.base), icon: "undo", run: () => void run(leaveChange(name), texts.thisIsAgain(branch.base)) },
          ]}
        />
      )}
      {dialog === "commit" && (
        <TextDialog
          title={texts.commitTo(branch.branch)}
          label={texts.message}
          initial={title}
          action={texts.commit}
          onSubmit={(message) => void run(commitChange(name, message), texts.theChangeIsCommitted)}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "request" && (
        <TextDialog
          title={texts.pullRequestFor(branch.base)}
          label={texts.title}
          initial={title}
          more={texts.description}
          action={texts.openPullRequest}
          onSubmit={(subject, body) => void request(subject, body)}
          onClose={() => setDialog(null)}
        />
      )}
    </div>
  );
}
