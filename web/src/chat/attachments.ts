/** Pictures and films that a person pastes, drops or picks. */

export interface Attachment {
  id: string;
  kind: "image" | "video" | "html";
  name: string;
  /** A data address; for HTML the text itself. */
  data: string;
  /** What a picture shows, if there are several. */
  role?: Role;
}

export type Role = "" | "desktop" | "mobile" | "detail";

const MOST = 32_000_000;
let count = 0;

/** Read what can be used; the others are named in `refused`. */
export async function readFiles(files: Iterable<File>): Promise<{ read: Attachment[]; refused: string[] }> {
  const read: Attachment[] = [];
  const refused: string[] = [];
  for (const file of files) {
    const kind = kindOf(file);
    if (kind === null) refused.push(`${file.name} is neither a picture, a film nor a page.`);
    else if (file.size > MOST) refused.push(`${file.name} is larger than 32 MB.`);
    else read.push({ id: `a${++count}`, kind, name: file.name, data: kind === "html" ? await file.text() : await dataUrl(file) });
  }
  return { read, refused };
}

function kindOf(file: File): Attachment["kind"] | null {
  if (/^image\/(png|jpeg|gif|webp|avif|heic|heif|bmp|tiff)$/.test(file.type)) return "image";
  if (file.type.startsWith("video/")) return "video";
  if (file.type === "text/html" || file.type === "image/svg+xml" || /\.(html?|svg)$/i.test(file.name)) return "html";
  return null;
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
