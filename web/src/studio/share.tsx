/** The links of a project: each shows its newest page to anyone, until it is revoked. */

import { useState } from "react";
import { Button, IconButton } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { showFailure, showToast } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { projects } from "../wire/api";

export function ShareDialog({ project, onClose }: { project: string; onClose(): void }) {
  const listed = useFetched(`shares of ${project}`, () => projects.shares(project));
  const [made, setMade] = useState<{ id: string; address: string } | null>(null);
  const make = async () => {
    const share = await projects.share(project);
    setMade({ id: share.id, address: new URL(share.path ?? "", location.href).href });
    listed.again();
  };
  const revoke = async (id: string) => {
    await projects.revokeShare(project, id);
    if (made?.id === id) setMade(null);
    listed.again();
  };
  const copy = async (address: string) => {
    await navigator.clipboard.writeText(address);
    showToast("The link is copied.");
  };
  const links = listed.value ?? [];
  return (
    <Dialog title="Share" onClose={onClose}>
      <p className="muted">Anyone with a link sees the newest finished page, and can change nothing. A link works until you revoke it.</p>
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
          {links.map((each) => (
            <li key={each.id} className="row">
              <span className="grow truncate">
                {new Date(each.created * 1000).toLocaleString()}
                {each.writable && " · may work in the project"}
                {each.id === made?.id && " · new"}
              </span>
              <IconButton small icon="trash" label="Revoke this link" onClick={() => void revoke(each.id).catch(showFailure)} />
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
