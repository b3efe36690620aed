/** Hosts that the dev server or its page asked for, to be allowed by a person. */

import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { hostQuestion as texts } from "../texts/repository";

export function HostQuestion({ hosts, onAllow }: { hosts: readonly string[]; onAllow(host: string): void }) {
  if (hosts.length === 0) return null;
  return (
    <ul className="host-question" aria-label={texts.blockedHosts}>
      {hosts.map((host) => (
        <li key={host} className="row">
          <Icon name="lock" size={14} />
          <span className="grow">
            <code>{host}</code> {texts.wasBlocked}
          </span>
          <Button small onClick={() => onAllow(host)}>
            {texts.allow(host)}
          </Button>
        </li>
      ))}
    </ul>
  );
}
