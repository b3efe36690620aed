/** The page that a variant is writing, as something a frame can show before it is done. */

import type { Draft } from "../log/drafts";

/** Hosts whose libraries, fonts and placeholder pictures the server has itself, below the address of a preview. */
const HOSTS =
  /(?:https?:)?\/\/(cdn\.jsdelivr\.net|cdn\.tailwindcss\.com|cdnjs\.cloudflare\.com|esm\.run|esm\.sh|unpkg\.com|use\.fontawesome\.com|(?:maxcdn|netdna|stackpath)\.bootstrapcdn\.com|fonts\.(?:bunny\.net|googleapis\.com|gstatic\.com)|rsms\.me|dummyimage\.com|fakeimg\.pl|picsum\.photos|placehold\.co|placekitten\.com|via\.placeholder\.com)(?=[/?#"'\s)&>;]|$)/gi;
const PROMISES = /\s(?:integrity|crossorigin)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?/gi;

/** Nothing that is half written may reach the network, whatever it says. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; form-action 'none'; base-uri 'none'";

/** The file that is the page: the entry if it is known, else the one that looks like it. */
export function pageOf(drafts: ReadonlyMap<string, Draft>, entry: string | null): Draft | null {
  const named = entry === null ? undefined : drafts.get(entry);
  if (named !== undefined) return named;
  const found = [...drafts.values()].filter((draft) => /\.(html?|svg)$/i.test(draft.path));
  return found.find((draft) => /(^|\/)index\.html?$/i.test(draft.path)) ?? found.at(-1) ?? null;
}

/** `base` is where the variant's preview is served, with the libraries below it. */
export function asDocument(draft: Draft, base: string): string {
  const text = draft.text.replace(PROMISES, "").replace(HOSTS, (_, host: string) => `${base}_libraries/${host.toLowerCase()}`);
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  if (/\.svg$/i.test(draft.path)) return `${policy}<body style="margin:0">${text}`;
  const doctype = /^\s*<!doctype[^>]*>/i.exec(text)?.[0] ?? "<!doctype html>";
  return `${doctype}${policy}${text.replace(/^\s*<!doctype[^>]*>/i, "")}`;
}
