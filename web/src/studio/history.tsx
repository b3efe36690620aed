/** All versions of a project as a tree: what came from what. */

import { Button } from "../parts/button";
import { ago } from "../parts/format";
import type { ProjectView, VersionView } from "../wire/api";

interface Props {
  project: ProjectView;
  current: string;
  onOpen(version: VersionView): void;
  onRestore(version: VersionView): void;
}

interface Node {
  version: VersionView;
  depth: number;
}

const KINDS = { create: "Created", update: "Changed", edit: "Edited by hand", restore: "Restored" } as const;

export function History({ project, current, onOpen, onRestore }: Props) {
  const versions = project.versions ?? [];
  const newest = versions.at(-1);
  return (
    <div className="history">
      <p className="muted">Open a version and say what to change to branch from it. Restoring puts it on top as a new one.</p>
      <ol className="history-list">
        {treeOf(versions).map(({ version, depth }) => (
          <li key={version.id} className={`history-row ${version.id === current ? "current" : ""}`} style={{ marginLeft: depth * 20 }}>
            <span className="history-number numeric">{version.number}</span>
            <div className="stack grow">
              <span className="truncate">{version.text || KINDS[version.kind]}</span>
              <span className="faint history-words">
                {KINDS[version.kind]} {ago(version.created)}
                {version.base !== null && ` from ${nameOf(versions, version.base)}`}
                {version.variants.length > 1 && ` · ${version.variants.length} variants`}
              </span>
            </div>
            <Button small aria-label={`Open version ${version.number}`} onClick={() => onOpen(version)}>
              Open
            </Button>
            {version !== newest && (
              <Button small icon="undo" aria-label={`Restore version ${version.number}`} onClick={() => onRestore(version)}>
                Restore
              </Button>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function nameOf(versions: readonly VersionView[], base: { version: string; variant: number }): string {
  const found = versions.find((each) => each.id === base.version);
  return found === undefined ? "an earlier version" : `${found.number}.${base.variant + 1}`;
}

/** Depth first; a version that is the only one on its base stands straight under it. */
function treeOf(versions: readonly VersionView[]): Node[] {
  const children = (id: string | null) => versions.filter((each) => (each.base?.version ?? null) === id);
  const nodes: Node[] = [];
  const walk = (version: VersionView, depth: number) => {
    nodes.push({ version, depth });
    const next = children(version.id);
    next.forEach((each, at) => walk(each, next.length > 1 && at > 0 ? depth + 1 : depth));
  };
  for (const version of children(null)) walk(version, 0);
  return nodes;
}
