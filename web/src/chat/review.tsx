/** What is changed in a file, hunk by hunk: to accept, or to take back. */

import { useRef, useState } from "react";
import { Button } from "../parts/button";
import { Diff } from "../parts/diff";
import { showToast, showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { review as texts } from "../texts/files";
import { type Change, changes, type Decision, type Hunk, type Hunks } from "./judging";

interface Props {
  session: string;
  change: Change;
  /** Somebody decided, or the file is no longer what was looked at. */
  onJudged(): void;
}

const WORDS = { created: texts.newFile, changed: texts.changed, deleted: texts.deleted } as const;

export function Review({ session, change, onJudged }: Props) {
  const fetched = useFetched(`change ${session} ${change.base} ${change.hash} ${change.path}`, () => changes.of(session, change.path), { isFixed: true });
  const [last, setLast] = useState<Hunks | null>(null); // it stays while the next state is loaded
  const box = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);
  if (fetched.value !== null && fetched.value !== last) setLast(fetched.value);
  const seen = last?.path === change.path ? last : null;
  if (fetched.error !== null) return <div className="note error">{fetched.error.message}</div>;
  if (seen === null) return <div className="empty">{texts.loading}</div>;
  const judge = (decision: Decision, hunk?: number) => {
    setBusy(true);
    changes
      .judge(session, seen, decision, hunk)
      .then(() => showToast(texts.in(decision === "accept", hunk === undefined, change.path)))
      .catch(showFailure)
      .finally(() => {
        setBusy(false);
        onJudged();
        box.current?.focus();
      });
  };
  const count = seen.hunks?.length ?? 0;
  return (
    <div className="review stack" ref={box} tabIndex={-1} role="group" aria-label={texts.changesIn(change.path)}>
      <div className="row wrap">
        <span className="badge">{WORDS[seen.kind]}</span>
        <span className="muted grow">{seen.problem || (seen.hunks === null ? texts.thisFileHasNoLines : texts.changes(count))}</span>
        <Button small icon="undo" disabled={busy || seen.problem !== ""} onClick={() => judge("revert")}>
          {texts.revertFile}
        </Button>
        <Button small icon="check" disabled={busy} onClick={() => judge("accept")}>
          {texts.acceptFile}
        </Button>
      </div>
      {seen.hunks?.map((hunk, at) => (
        <Piece key={`${seen.hash}-${seen.base}-${at}`} hunk={hunk} name={`change ${at + 1} of ${count}`} busy={busy} onJudge={(decision) => judge(decision, at)} />
      ))}
    </div>
  );
}

function Piece({ hunk, name, busy, onJudge }: { hunk: Hunk; name: string; busy: boolean; onJudge(decision: Decision): void }) {
  return (
    <figure className="piece">
      <figcaption className="row">
        <span className="changes numeric grow">
          <span className="added">+{hunk.added}</span> <span className="removed">−{hunk.removed}</span>
        </span>
        <Button small look="quiet" icon="undo" disabled={busy} aria-label={texts.revert(name)} onClick={() => onJudge("revert")}>
          {texts.revertLabel}
        </Button>
        <Button small look="quiet" icon="check" disabled={busy} aria-label={texts.accept(name)} onClick={() => onJudge("accept")}>
          {texts.acceptLabel}
        </Button>
      </figcaption>
      <Diff text={hunk.text} label={texts.difference(name)} />
    </figure>
  );
}
