/** A request, made from what a person wrote and attached. */

import { type Attachment, pageNameOf, textUrl } from "../chat/attachments";
import type { Prompt } from "../wire/api";

/** An address alone is a page to rebuild; with words it stands beside them. With `pages` each picture is a page. */
export function promptOf(text: string, attachments: readonly Attachment[], pages = false): Prompt {
  const words = text.trim();
  const address = addressIn(words);
  return { ...promptOfAddress(address, words), ...promptOfFiles(attachments, pages) };
}

/** A change: an address among its words is where something leads, and only one that stands alone is a page to rebuild. */
export function changeOf(text: string, attachments: readonly Attachment[]): Prompt {
  const words = text.trim();
  const address = addressIn(words);
  return { ...(address === words ? promptOfAddress(address, words) : {}), ...promptOfFiles(attachments, false), text: words };
}

/** A name of a host alone, as people write it: the last part is none of a file. */
const HOST = /^(?:[a-z0-9-]+\.)+(?!(?:html?|css|jsx?|tsx?|json|md|txt|pdf|png|jpe?g|gif|svg|webp)\b)[a-z]{2,}(?:[/?#]\S*)?$/i;

/** The first address in a text, without the sign that ends the sentence. */
function addressIn(words: string): string | undefined {
  if (HOST.test(words)) return `https://${words}`;
  return /(?:^|\s)(https?:\/\/\S+)/.exec(words)?.[1]?.replace(/[.,;:!?)\]'"”]+$/, "");
}

function promptOfAddress(address: string | undefined, words: string): Prompt {
  const prompt: Prompt = {};
  if (address !== undefined && isFigma(address)) prompt.figma = address;
  else if (address !== undefined) prompt.url = address;
  if (words !== "" && words !== address && !HOST.test(words)) prompt.text = words;
  return prompt;
}

function promptOfFiles(attachments: readonly Attachment[], pages: boolean): Prompt {
  const prompt: Prompt = {};
  const of = (kind: Attachment["kind"]) => attachments.filter((attachment) => attachment.kind === kind);
  const images = of("image");
  const imageOf = (image: Attachment) => {
    if (pages && images.length > 1) return { data: image.data, page: pageNameOf(image).trim() || "page" };
    return image.role ? { data: image.data, role: image.role } : { data: image.data };
  };
  if (images.length > 0) prompt.images = images.map(imageOf);
  if (of("video").length > 0) prompt.videos = of("video").map(({ data }) => ({ data }));
  const designs = of("figma");
  if (designs[0] !== undefined) prompt.figma = designs[0].data;
  const documents = attachments.filter(({ kind }) => kind === "text" || kind === "pdf");
  if (documents.length > 0) prompt.documents = documents.map(({ kind, name, data }) => ({ name, data: kind === "text" ? textUrl(data) : data }));
  if (of("html").length > 0) prompt.html = of("html").map(({ data }) => data).join("\n");
  return prompt;
}

/** Whether an address is that of a design in Figma. */
export function isFigma(address: string): boolean {
  return /^https:\/\/(?:www\.)?figma\.com\/(?:file|design|proto)\//.test(address);
}

/** Whether a pasted text is the source of a page rather than words about one. */
export function isPage(text: string): boolean {
  const start = text.trimStart().slice(0, 400);
  if (/^(?:<!doctype\s+html|<html[\s>]|<svg[\s>]|<\?xml)/i.test(start)) return true;
  return text.length > 120 && /^<(?:head|body|main|div|section|header|nav|article|style|script|link|meta|template)[\s>]/i.test(start) && /<\/[a-z][\w-]*>\s*$/i.test(text.trimEnd());
}
