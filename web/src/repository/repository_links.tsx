/** Links to the folders of the server as repositories with a preview. */

import { Icon } from "../parts/icon";
import { address } from "../shell/route";
import { repositoryLinks as texts } from "../texts/start";

export function RepositoryLinks({ names }: { names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="note">
      <Icon name="desktop" size={14} />
      <span>
        {texts.withItsOwnDevServer}{" "}
        {names.map((name, at) => (
          <span key={name}>
            {at > 0 && ", "}
            <a href={address("repository", name)}>{name}</a>
          </span>
        ))}
      </span>
    </p>
  );
}
