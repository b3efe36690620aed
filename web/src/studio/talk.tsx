/** One conversation for a whole project: the requests that led here, the one that is shown, and what was made from it. */

import { Thread } from "../chat/thread";
import { useFollowed } from "../live/hooks";
import { Icon } from "../parts/icon";
import { talk as texts } from "../texts/project";
import type { ProjectView, VariantView, VersionView } from "../wire/api";
import { withoutSteps } from "./steps";

const MADE = {
  create: "",
  update: "",
  import: texts.noChanges,
  edit: texts.versionEditedByHand,
  restore: texts.thisVersionIsAnEarlier,
} as const;
const KINDS = { create: texts.created, import: texts.imported, update: texts.changed, edit: texts.editedByHand, restore: texts.restored } as const;

interface Props {
  project: ProjectView;
  version: VersionView;
  variant: VariantView;
  onOpen(version: VersionView): void;
}

export function Talk({ project, version, variant, onOpen }: Props) {
  const followed = useFollowed(variant.session);
  const nothing = followed === null || (followed.complete && followed.conversation.transcript.items.length === 0);
  const versions = project.versions ?? [];
  const before = ancestorsOf(versions, version);
  const after = versions.filter((other) => other.base?.version === version.id && other.id !== version.id);
  const beside = versions.filter((other) => other.base !== null && other.base.version === version.base?.version && other.id !== version.id);
  return (
    <div className="talk">
      {before.length + beside.length > 0 && (
        <ol className="points" aria-label={texts.earlierInThisConversation}>
          {before.map((point) => (
            <Point key={point.id} version={point} onOpen={onOpen} />
          ))}
          {beside.map((point) => (
            <Point key={point.id} version={point} branch onOpen={onOpen} />
          ))}
        </ol>
      )}
      {nothing ? <div className="empty grow">{MADE[version.kind]}</div> : <Thread session={variant.session} followed={followed} display={withoutSteps} />}
      {after.length > 0 && (
        <ol className="points after" aria-label={texts.laterInThisConversation}>
          {after.map((point) => (
            <Point key={point.id} version={point} branch={after.length > 1} onOpen={onOpen} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Point({ version, branch = false, onOpen }: { version: VersionView; branch?: boolean; onOpen(version: VersionView): void }) {
  return (
    <li className={branch ? "branch" : ""}>
      <button type="button" className="point" onClick={() => onOpen(version)} title={version.text}>
        <Icon name={branch ? "branch" : "history"} size={12} />
        <span className="history-number numeric">{version.number}</span>
        <span className="truncate grow">{version.text || KINDS[version.kind]}</span>
      </button>
    </li>
  );
}

/** The versions that a version came from, the first one first. */
export function ancestorsOf(versions: readonly VersionView[], version: VersionView): VersionView[] {
  const chain: VersionView[] = [];
  const seen = new Set([version.id]);
  for (let at = version.base?.version; at !== undefined && !seen.has(at); ) {
    seen.add(at);
    const next = versions.find((other) => other.id === at);
    if (next === undefined) break;
    chain.unshift(next);
    at = next.base?.version;
  }
  return chain;
}
