/** The page that a variant is writing, as something a frame can show before it is done. */

import type { Draft } from "@heald/client";

/** Hosts whose libraries, fonts and placeholder pictures the server has itself, below the address of a preview. */
const HOSTS =
  /(?:https?:)?\/\/(cdn\.jsdelivr\.net|cdn\.tailwindcss\.com|cdnjs\.cloudflare\.com|esm\.run|esm\.sh|unpkg\.com|use\.fontawesome\.com|(?:maxcdn|netdna|stackpath)\.bootstrapcdn\.com|fonts\.(?:bunny\.net|googleapis\.com|gstatic\.com)|rsms\.me|dummyimage\.com|fakeimg\.pl|picsum\.photos|placehold\.co|placekitten\.com|via\.placeholder\.com)(?=[/?#"'\s)&>;]|$)/gi;
const PROMISES = /\s(?:integrity|crossorigin)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?/gi;

/** The file that is the page: the entry if it is known, else the one that looks like it. */
export function pageOf(drafts: ReadonlyMap<string, Draft>, entry: string | null): Draft | null {
  const named = entry === null ? undefined : drafts.get(entry);
  if (named !== undefined) return named;
  const pages = [...drafts.values()].filter((draft) => /\.(html?|svg)$/i.test(draft.path));
  return pages.find((draft) => /(^|\/)index\.html?$/i.test(draft.path)) ?? pages.at(-1) ?? null;
}

/** What a browser shows nothing of, also where it is still being written. */
const UNSEEN =
  /<!--[\s\S]*?(?:-->|$)|<!doctype[^>]*>?|<(head|style|script|title|template)\b[\s\S]*?(?:<\/\1\s*>|$)|<\/?(?:html|body|meta|link|base)\b[^>]*(?:>|$)|<div id="?(?:root|app)"?>\s*(?:<\/div>)?|<[^>]*$/gi;

/** Whether something of a page can be seen: its styles come first, and take a while. */
export function isVisible(text: string): boolean {
  return text.replace(UNSEEN, "").trim() !== "";
}

/** `base` is where the variant's preview is served, with the libraries below it. */
export function asDocument(draft: Draft, base: string): string {
  const text = draft.text.replace(PROMISES, "").replace(HOSTS, (_, host: string) => `${base}_libraries/${host.toLowerCase()}`);
  if (/\.svg$/i.test(draft.path)) return `<!doctype html><body style="margin:0">${text}`;
  return /^\s*<!doctype/i.test(text) ? text : `<!doctype html>${text}`;
}
