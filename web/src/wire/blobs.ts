/** Large contents: a frame of more than 1 MiB names them, and they are fetched apart. */

import { route } from "./rest";

interface BlobRef {
  path: (string | number)[];
  blob: string;
  is_json: boolean;
}

type Fetch = (path: string) => Promise<string>;
type Holder = Record<string | number, unknown>;

async function fetchText(path: string): Promise<string> {
  const response = await fetch(path, { credentials: "same-origin" });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.text();
}

/** The frames, of one message, whose contents have to be fetched. */
function largeFrames(frame: unknown): (Holder & { blobs: BlobRef[] })[] {
  if (typeof frame !== "object" || frame === null) return [];
  const { type, events } = frame as Holder;
  const all = type === "events" && Array.isArray(events) ? (events as unknown[]) : [frame];
  return all.filter((each) => Array.isArray((each as Holder | null)?.blobs)) as (Holder & { blobs: BlobRef[] })[];
}

export function hasBlobs(frame: unknown): boolean {
  return largeFrames(frame).length > 0;
}

/** Put the large contents of a frame into their places. */
export async function restoreBlobs(frame: unknown, load: Fetch = fetchText): Promise<void> {
  for (const large of largeFrames(frame)) {
    for (const { path, blob, is_json } of large.blobs) {
      const text = await load(route("sessions", String(large.session), "blobs", blob));
      let place: Holder = large;
      for (const step of path.slice(0, -1)) place = place[step] as Holder;
      place[path[path.length - 1] as string | number] = is_json ? (JSON.parse(text) as unknown) : text;
    }
  }
}
