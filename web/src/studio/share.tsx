/** Hands a project to others: as a link, or to a git remote. */

import { useState } from "react";
import { Button, IconButton } from "../parts/button";
import { copyText } from "../parts/clipboard";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useKeptText } from "../parts/kept";
import { showFailure, showToast } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { type Base, projects } from "../wire/api";
import { ApiError } from "../wire/rest";

/** Whether an address means the machine that it is opened on. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

/** The links of a project: each shows its newest page to anyone, until it is revoked. */
export function ShareDialog({ project, onClose }: { project: string; onClose(): void }) {
  const listed = useFetched(`shares of ${project}`, () => projects.shares(project));
  const [made, setMade] = useState<{ id: string; address: string } | null>(null);
  const make = async () => {
    const share = await projects.share(project);
    setMade({ id: share.id, address: new URL(share.path ?? "", location.href).href });
    listed.reload();
  };
  const revoke = async (id: string) => {
    await projects.revokeShare(project, id);
    if (made?.id === id) setMade(null);
    listed.reload();
  };
  const copy = async (address: string) => {
    await copyText(address);
    showToast("The link is copied.");
  };
  const links = listed.value ?? [];
  return (
    <Dialog title="Share" onClose={onClose}>
      <p className="muted">Anyone with a link sees the newest finished page, and can change nothing. A link works until you revoke it.</p>
      {isLoopback(location.hostname) && (
        <p className="note">
          <Icon name="info" size={14} />
          <span>
            This address is that of your own machine, and so are its links: others cannot open them. For others, start the server with <code>--host</code> or{" "}
            <code>--public-url</code>, or download the page.
          </span>
        </p>
      )}
      {made !== null && (
        <div className="row">
          <input className="field grow" aria-label="Link" readOnly value={made.address} onFocus={(event) => event.target.select()} />
          <Button icon="copy" onClick={() => void copy(made.address).catch(showFailure)}>
            Copy
          </Button>
        </div>
      )}
      {links.length > 0 && (
        <ul className="plain-list" aria-label="Links">
          {links.map((link) => (
            <li key={link.id} className="row">
              <span className="grow truncate">
                {new Date(link.created * 1000).toLocaleString()}
                {link.writable && " · may work in the project"}
                {link.id === made?.id && " · new"}
              </span>
              <IconButton small icon="trash" label="Revoke this link" onClick={() => void revoke(link.id).catch(showFailure)} />
            </li>
          ))}
        </ul>
      )}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>Close</Button>
        <Button look="primary" icon="link" onClick={() => void make().catch(showFailure)}>
          Make a link
        </Button>
      </div>
    </Dialog>
  );
}

const OUTCOMES = { new: "is new", updated: "was updated", unchanged: "has everything already" } as const;

/** Pushes a version to a git remote. Git signs in with the credentials of the server's machine; none are entered here. */
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
      setSaid({ ok: false, text: error instanceof ApiError ? error.message : "The server does not answer; try again later." });
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
          <input className="field" placeholder="heald/ and the title" spellCheck={false} value={branch} onChange={(event) => setBranch(event.target.value)} />
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
