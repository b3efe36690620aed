/** Asks once before the code of a repository runs, and says what will run and where. */

import { Button } from "../parts/button";
import { plain } from "../parts/format";
import type { RepositoryView } from "./calls";

type Commands = NonNullable<RepositoryView["commands"]>;

export function AgreeCard({ view, commands, onAgree }: { view: RepositoryView; commands: Commands; onAgree(hosts: string[]): void }) {
  const rows: [string, string][] = [
    ["Dev server", `${commands.dev} → ${commands.script}`],
    ["Packages", commands.install],
    ["Tests", commands.test],
  ];
  return (
    <section className="card-box" aria-label="Run the code of this repository">
      <h2>Run the code of this repository?</h2>
      <p>
        Its commands run in a sandbox: they can change this folder and nothing else, have none of your keys, and reach only hosts that
        you allow.
      </p>
      <dl>
        {rows
          .filter(([, text]) => text !== "")
          .map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <code>{plain(text)}</code>
              </dd>
            </div>
          ))}
        {view.proposed_hosts.length > 0 && (
          <div>
            <dt>Hosts of its packages</dt>
            <dd>{view.proposed_hosts.join(", ")}</dd>
          </div>
        )}
      </dl>
      <div className="row">
        <Button look="primary" onClick={() => onAgree([])}>
          Run without network
        </Button>
        {view.proposed_hosts.length > 0 && <Button onClick={() => onAgree(view.proposed_hosts)}>Run and allow these hosts</Button>}
      </div>
    </section>
  );
}
