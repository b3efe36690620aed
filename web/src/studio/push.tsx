/** Pushes a version to a git remote. Git signs in with the credentials of the server's machine; none are entered here. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useKeptText } from "../parts/kept";
import { type Base, projects } from "../wire/api";
import { ApiError } from "../wire/rest";

const OUTCOMES = { new: "is new", updated: "was updated", unchanged: "has everything already" } as const;

export function PushDialog({ project, base, onClose }: { project: string; base: Base; onClose(): void }) {
  const [remote, setRemote] = useKeptText(`remote:${project}`);
  const [branch, setBranch] = useKeptText(`branch:${project}`);
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ ok: boolean; text: string } | null>(null);
  const push = async () => {
    setBusy(true);
    setSaid(null);
    try {
      const pushed = await projects.push(project, base, remote.trim(), branch.trim());
      const commits = pushed.versions === 1 ? "1 commit" : `${pushed.versions} commits`;
      setSaid({ ok: true, text: `The branch ${pushed.branch} ${OUTCOMES[pushed.outcome]}: ${commits}, the newest is ${pushed.commit.slice(0, 10)}.` });
    } catch (error) {
      setSaid({ ok: false, text: error instanceof ApiError ? error.message : "The server does not answer; try it later." });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title="Push to git" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && remote.trim() !== "") void push();
        }}
      >
        <p className="muted">One commit for each version that led to the one that is shown. Git signs in with the credentials of the machine that the server runs on.</p>
        <label className="stack field-label">
          Remote
          <input className="field" placeholder="git@example.org:me/site.git" autoFocus spellCheck={false} value={remote} onChange={(event) => setRemote(event.target.value)} />
        </label>
        <label className="stack field-label">
          Branch
          <input className="field" placeholder="weft/ and the title" spellCheck={false} value={branch} onChange={(event) => setBranch(event.target.value)} />
        </label>
        {said !== null && (
          <p className={`note ${said.ok ? "" : "error"}`} role="status">
            <Icon name={said.ok ? "check" : "alert"} size={14} />
            <span>{said.text}</span>
          </p>
        )}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" icon="branch" type="submit" disabled={busy || remote.trim() === ""}>
            {busy ? "Pushing…" : "Push"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
