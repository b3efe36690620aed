/** Files that a person pastes, drops or picks: pictures, films, pages, PDF and text. What cannot be used is refused here, before it is sent. */

import { attachments as texts } from "../texts/chat";
import { ApiError, post, route } from "../wire/rest";

export interface Attachment {
  id: string;
  kind: "image" | "video" | "html" | "figma" | "pdf" | "text";
  name: string;
  /** A data address; for HTML and text the text itself. */
  data: string;
  /** What a picture shows, if there are several. */
  role?: Role;
  /** The name of the page that a picture becomes, if each of several becomes one. */
  page?: string;
}

/** The name of the page that a picture becomes: the one that it was given, or that of its file. */
export function pageNameOf({ name, page }: Attachment): string {
  return page ?? name.replace(/\.[a-z0-9]+$/i, "");
}

export type Role = "" | "desktop" | "mobile" | "detail";

const MOST = 32_000_000;
const MOST_OF_PDF = 8_000_000;
const MOST_OF_TEXT = 1_000_000;
/** Attachments of an earlier load of the page may still be there: ids must differ from theirs. */
const LOADED = Date.now().toString(36);
let count = 0;

/** Read what can be used, with `designs` also files of Figma; the others are named in `refused`. */
export async function readFiles(files: Iterable<File>, designs = false): Promise<{ read: Attachment[]; refused: string[] }> {
  const read: Attachment[] = [];
  const refused: string[] = [];
  for (const file of files) {
    const kind = kindOf(file) ?? (await kindOfText(file, designs));
    if (/\.fig$/i.test(file.name)) refused.push(texts.figmaFile(file.name));
    else if (kind === null) refused.push(texts.unknownKind(file.name));
    else if (file.size > MOST) refused.push(texts.tooLarge(file.name));
    else if (kind === "pdf" && file.size > MOST_OF_PDF) refused.push(texts.pdfTooLarge(file.name));
    else if (kind === "text" && file.size > MOST_OF_TEXT) refused.push(texts.textTooLarge(file.name));
    else {
      const data = kind === "html" || kind === "figma" || kind === "text" ? await file.text() : await dataUrl(file);
      const fault = kind === "image" ? await faultOf(file.name, data) : null;
      if (fault === null) read.push({ id: `${LOADED}-${++count}`, kind, name: file.name, data });
      else refused.push(fault);
    }
  }
  return { read, refused };
}

/** Why the server could not use a picture; null if it can, or cannot be asked. */
async function faultOf(name: string, data: string): Promise<string | null> {
  try {
    await post(route("studio", "picture"), { name: name.slice(0, 200), data });
    return null;
  } catch (error) {
    return error instanceof ApiError && error.status === 400 ? error.message : null;
  }
}

function kindOf(file: File): Attachment["kind"] | null {
  if (file.type === "application/pdf" || /\.pdf$/i.test(file.name)) return "pdf";
  if (/^image\/(?!svg)/.test(file.type) || (file.type === "" && /\.(hei[cf]|avif|webp)$/i.test(file.name))) return "image";
  if (file.type.startsWith("video/")) return "video";
  if (file.type === "text/html" || file.type === "image/svg+xml" || /\.(html?|svg)$/i.test(file.name)) return "html";
  return null;
}

/** A file is a text if it reads as one, whatever its name: CSV files, logs and sources have many. */
async function kindOfText(file: File, designs: boolean): Promise<Attachment["kind"] | null> {
  try {
    const start = new TextDecoder("utf-8", { fatal: true }).decode(await file.slice(0, SAMPLE).arrayBuffer(), { stream: true });
    if (start.includes("\0")) return null;
    return designs && /\.json$/i.test(file.name) && /"(?:document|nodes)"\s*:/.test(start) ? "figma" : "text";
  } catch {
    return null;
  }
}

const SAMPLE = 65_536;

/** A text as a data address. */
export function textUrl(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (let at = 0; at < bytes.length; at += SAMPLE / 8) binary += String.fromCharCode(...bytes.subarray(at, at + SAMPLE / 8));
  return `data:text/plain;base64,${btoa(binary)}`;
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(file);
  });
}

/** The media type and the base64 part of a data address. */
export function splitData(data: string): { mediaType: string; base64: string } {
  const comma = data.indexOf(",");
  return { mediaType: data.slice(5, comma).split(";")[0] ?? "", base64: data.slice(comma + 1) };
}
