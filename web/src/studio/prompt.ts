/** A request, made from what a person wrote and attached. */

import type { Attachment } from "../chat/attachments";
import type { Prompt } from "../wire/api";

/** An address alone is a page to rebuild; with words it stands beside them. */
export function promptOf(text: string, attachments: readonly Attachment[]): Prompt {
  const prompt: Prompt = {};
  const found = /(?:^|\s)(https?:\/\/\S+)/.exec(text);
  const words = text.trim();
  if (found?.[1] !== undefined) prompt.url = found[1];
  if (words !== "" && words !== prompt.url) prompt.text = words;
  const of = (kind: Attachment["kind"]) => attachments.filter((each) => each.kind === kind);
  if (of("image").length > 0) prompt.images = of("image").map(({ data, role }) => (role ? { data, role } : { data }));
  if (of("video").length > 0) prompt.videos = of("video").map(({ data }) => ({ data }));
  if (of("html").length > 0) prompt.html = of("html").map(({ data }) => data).join("\n");
  return prompt;
}

/** Whether a pasted text is the source of a page rather than words about one. */
export function isPage(text: string): boolean {
  const start = text.trimStart().slice(0, 400);
  if (/^(?:<!doctype\s+html|<html[\s>]|<svg[\s>]|<\?xml)/i.test(start)) return true;
  return text.length > 120 && /^<(?:head|body|main|div|section|header|nav|article|style|script|link|meta|template)[\s>]/i.test(start) && /<\/[a-z][\w-]*>\s*$/i.test(text.trimEnd());
}
