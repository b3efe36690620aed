/** All versions of a project, the newest first: what each shows, what changed in it and where it came from. */

import "../style/history.css";
import { Button } from "../parts/button";
import { countOf } from "../parts/diff";
import { ago } from "../parts/format";
import { Icon } from "../parts/icon";
import { useFetched } from "../shell/fetched";
import { history as texts } from "../texts/project";
import { isRunning, presentVariants, projects, type ProjectView, type VersionView } from "../wire/api";
import { Frame } from "./frame";

interface Props {
  project: ProjectView;
  current: string;
  away: boolean;
  onOpen(version: VersionView): void;
  onRestore(version: VersionView): void;
}

const KINDS = { create: texts.created, import: texts.imported, update: texts.changed, edit: texts.editedByHand, restore: texts.restored } as const;

export function History({ project, current, away, onOpen, onRestore }: Props) {
  const versions = project.versions ?? [];
  const depths = depthsOf(versions);
  return (
    <div className="history" tabIndex={0} role="region" aria-label={texts.versions}>
      <p className="muted">{texts.openAVersionAndSay}</p>
      <ol className="history-list" reversed>
        {versions.toReversed().map((version, at) => (
          <li
            key={version.id}
            className={`history-row ${version.id === current ? "current" : ""}`}
            aria-current={version.id === current ? "true" : undefined}
            style={{ marginLeft: Math.min(depths.get(version.id) ?? 0, 4) * 20 }}
          >
            <Thumbnail version={version} />
            <div className="stack grow">
              <span className="row">
                <span className="history-number numeric">{version.number}</span>
                <span className="truncate grow history-title" title={version.text}>
                  {version.text || KINDS[version.kind]}
                </span>
                {version.id === project.current && <span className="badge accent">{at === 0 ? texts.latest : texts.current}</span>}
              </span>
              <span className="faint history-words">
                {KINDS[version.kind]} {ago(version.created)}
                {version.base !== null && texts.from(nameOf(versions, version.base))}
                {presentVariants(version).length > 1 && texts.variants(presentVariants(version).length)}
              </span>
              <Changed project={project.id} version={version} />
            </div>
            <span className="row history-actions">
              <Button small aria-label={texts.openVersion(version.number)} onClick={() => onOpen(version)}>
                {texts.open}
              </Button>
              {version.id !== project.current && (
                <Button small icon="undo" disabled={away} aria-label={texts.restoreVersion(version.number)} onClick={() => onRestore(version)}>
                  {texts.restore}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Thumbnail({ version }: { version: VersionView }) {
  const variant = version.variants[version.chosen] ?? version.variants[0];
  const hasPreview = variant !== undefined && variant.entry !== null && !isRunning(variant);
  return (
    <span className="history-thumb" aria-hidden="true">
      {hasPreview ? <Frame inert lazy source={{ src: variant.preview }} title={texts.version(version.number)} /> : <Icon name={variant?.status === "failed" ? "alert" : "grid"} size={18} />}
    </span>
  );
}

/** How many lines differ from the version that it came from. */
function Changed({ project, version }: { project: string; version: VersionView }) {
  const variant = version.variants[version.chosen] ?? version.variants[0];
  const { base } = version;
  const isComparable = base !== null && variant !== undefined && !isRunning(variant);
  const diff = useFetched(isComparable ? `diff of ${project} ${version.id}.${variant.index}` : null, () =>
    projects.diff(project, { version: version.id, variant: variant?.index ?? 0 }, base ?? { version: "", variant: 0 }),
  );
  if (!isComparable || diff.value === null) return null;
  const counts = diff.value.files.map((file) => countOf(file.diff));
  const added = counts.reduce((sum, count) => sum + count.added, 0);
  const removed = counts.reduce((sum, count) => sum + count.removed, 0);
  if (added + removed === 0) return <span className="faint history-words">{texts.theSameFiles}</span>;
  return (
    <span className="row history-words numeric">
      <span className="added">+{added}</span>
      <span className="removed">−{removed}</span>
      <span className="faint truncate">{diff.value.files.map((file) => file.path).join(", ")}</span>
    </span>
  );
}

export function nameOf(versions: readonly VersionView[], base: { version: string; variant: number }): string {
  const origin = versions.find((version) => version.id === base.version);
  if (origin === undefined) return texts.anEarlierVersion;
  return origin.variants.length > 1 ? texts.versionAndVariant(origin.number, base.variant + 1) : texts.versionName(origin.number);
}

/** How far each version branches off: one that is the first on its base stands straight under it. */
function depthsOf(versions: readonly VersionView[]): Map<string, number> {
  const depths = new Map<string, number>();
  const taken = new Set<string>();
  for (const version of versions) {
    const from = version.base?.version ?? "";
    const above = depths.get(from) ?? 0;
    depths.set(version.id, from !== "" && taken.has(from) && version.kind !== "restore" ? above + 1 : above);
    taken.add(from);
  }
  return depths;
}
