/** What a variant's frame shows: the page itself once it is there, and what is written of it until then. */

import { useFollowed } from "../live/hooks";
import type { VariantView, VersionView } from "../wire/api";
import { isVisible, pageOf } from "./draft";
import type { Source } from "./frame";

/** `changes` says that the variant began with a page that is there already; `pause` is how long it stays the same. */
export function useSource(variant: VariantView, changes: boolean, pause: number): Source | null {
  const running = variant.status === "running" || variant.status === "queued";
  const followed = useFollowed(running ? variant.session : null, pause);
  if (!running) return variant.entry === null ? null : { src: variant.preview };
  if (followed === null) return changes ? { src: `${variant.preview}?revision=0` } : null;
  const { conversation } = followed;
  const draft = pageOf(conversation.transcript.drafts.files, variant.entry);
  if (draft !== null && !draft.written && isVisible(draft.text)) return { draft, base: variant.preview };
  const revision = [...conversation.files.values()].reduce((sum, file) => sum + file.revision, 0);
  return revision > 0 || changes ? { src: `${variant.preview}?revision=${revision}` } : null;
}

/** Whether the variants of a version change a page that is there: a variant that was cancelled early has none. */
export function beginsWithPage(versions: VersionView[], version: VersionView): boolean {
  const { base } = version;
  const begun = versions.find((version) => version.id === base?.version)?.variants.find((variant) => variant.index === base?.variant);
  return begun !== undefined && begun.entry !== null;
}

/** The same at another page of the project; a page that is being written stays as it is. */
export function pageSource(source: Source | null, page: string): Source | null {
  if (source === null || !("src" in source) || page === "") return source;
  const [address, query = ""] = source.src.split("?");
  const path = page.split("/").map(encodeURIComponent).join("/");
  return { src: `${address}${path}${query === "" ? "" : `?${query}`}` };
}
