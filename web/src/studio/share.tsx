/** Hands a project to others: as a link, or to a git remote. */

import { useState } from "react";
import { Button, IconButton } from "../parts/button";
import { copyText } from "../parts/clipboard";
import { Dialog } from "../parts/dialog";
import { Icon } from "../parts/icon";
import { useKeptText } from "../parts/kept";
import { showFailure, showToast } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { share as texts } from "../texts/project";
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
    showToast(texts.theLinkIsCopied);
  };
  const links = listed.value ?? [];
  return (
    <Dialog title={texts.share} onClose={onClose}>
      <p className="muted">{texts.anyoneWithALinkSees}</p>
      {isLoopback(location.hostname) && (
        <p className="note">
          <Icon name="info" size={14} />
          <span>
            {texts.ownMachine} <code>{texts.host}</code> {texts.or}{" "}
            <code>{texts.publicUrl}</code>{texts.orDownloadThePage}
          </span>
        </p>
      )}
      {made !== null && (
        <div className="row">
          <input className="field grow" aria-label={texts.link} readOnly value={made.address} onFocus={(event) => event.target.select()} />
          <Button icon="copy" onClick={() => void copy(made.address).catch(showFailure)}>
            {texts.copy}
          </Button>
        </div>
      )}
      {links.length > 0 && (
        <ul className="plain-list" aria-label={texts.links}>
          {links.map((link) => (
            <li key={link.id} className="row">
              <span className="grow truncate">
                {new Date(link.created * 1000).toLocaleString()}
                {link.writable && texts.mayWorkInTheProject}
                {link.id === made?.id && texts.new}
              </span>
              <IconButton small icon="trash" label={texts.revokeThisLink} onClick={() => void revoke(link.id).catch(showFailure)} />
            </li>
          ))}
        </ul>
      )}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>{texts.close}</Button>
        <Button look="primary" icon="link" onClick={() => void make().catch(showFailure)}>
          {texts.makeALink}
        </Button>
      </div>
    </Dialog>
  );
}

const OUTCOMES = { new: texts.isNew, updated: texts.wasUpdated, unchanged: texts.hasEverythingAlready } as const;

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
      const commits = texts.commits(pushed.versions);
      setSaid({ ok: true, text: texts.branchState(pushed.branch, OUTCOMES[pushed.outcome], commits, pushed.commit.slice(0, 10)) });
    } catch (error) {
      setSaid({ ok: false, text: error instanceof ApiError ? error.message : texts.theServerDoesNotAnswer });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={texts.pushToGit} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!busy && remote.trim() !== "") void push();
        }}
      >
        <p className="muted">{texts.oneCommitForEachVersion}</p>
        <label className="stack field-label">
          {texts.remote}
          <input className="field" placeholder={texts.gitExampleOrgMeSite} autoFocus spellCheck={false} value={remote} onChange={(event) => setRemote(event.target.value)} />
        </label>
        <label className="stack field-label">
          {texts.branch}
          <input className="field" placeholder={texts.healdAndTheTitle} spellCheck={false} value={branch} onChange={(event) => setBranch(event.target.value)} />
        </label>
        {said !== null && (
          <p className={`note ${said.ok ? "" : "error"}`} role="status">
            <Icon name={said.ok ? "check" : "alert"} size={14} />
            <span>{said.text}</span>
          </p>
        )}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>{texts.close}</Button>
          <Button look="primary" icon="branch" type="submit" disabled={busy || remote.trim() === ""}>
            {busy ? texts.pushing : texts.push}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
