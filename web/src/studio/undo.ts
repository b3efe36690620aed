import type { Base, VersionView } from "../wire/api";

/** What undoing a version goes back to; null for a first version. Undoing an undone version goes one step further. */
export function undoTarget(versions: readonly VersionView[], version: VersionView): Base | null {
  const find = (base: Base | null) => versions.find((each) => each.id === base?.version);
  let shown: VersionView | undefined = version;
  while (shown?.kind === "restore") shown = find(shown.base);
  return shown?.base ?? null;
}
