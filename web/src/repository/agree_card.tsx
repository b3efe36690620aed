/** Asks once before the code of a repository runs, and says what will run and where. */

import { Button } from "../parts/button";
import { plain } from "../parts/format";
import { agreeCard as texts } from "../texts/repository";
import type { RepositoryView } from "./calls";

type Commands = NonNullable<RepositoryView["commands"]>;

export function AgreeCard({ view, commands, onAgree }: { view: RepositoryView; commands: Commands; onAgree(hosts: string[]): void }) {
  const rows: [string, string][] = [
    [texts.devServer, `${commands.dev} → ${commands.script}`],
    [texts.packages, commands.install],
    [texts.tests, commands.test],
  ];
  return (
    <section className="card-box" aria-label={texts.runCode}>
      <h2>{texts.runTheCodeOfThisRepository}</h2>
      <p>
        {texts.sandboxHint}
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
            <dt>{texts.hostsOfItsPackages}</dt>
            <dd>{view.proposed_hosts.join(", ")}</dd>
          </div>
        )}
      </dl>
      <div className="row">
        <Button look="primary" onClick={() => onAgree([])}>
          {texts.runWithoutNetwork}
        </Button>
        {view.proposed_hosts.length > 0 && <Button onClick={() => onAgree(view.proposed_hosts)}>{texts.runAndAllowTheseHosts}</Button>}
      </div>
    </section>
  );
}
