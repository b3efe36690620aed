/** Large contents: a frame of more than 1 MiB names them, and they are fetched separately. */

interface BlobRef {
  path: (string | number)[];
  blob: string;
  is_json: boolean;
}

/** Fetches the text of a session's blob. */
export type LoadBlob = (session: string, blob: string) => Promise<string>;
type Holder = Record<string | number, unknown>;

/** The frames, of one message, whose contents have to be fetched. */
function largeFrames(frame: unknown): (Holder & { blobs: BlobRef[] })[] {
  if (typeof frame !== "object" || frame === null) return [];
  const { type, events } = frame as Holder;
  const all = type === "events" && Array.isArray(events) ? (events as unknown[]) : [frame];
  return all.filter((value) => Array.isArray((value as Holder | null)?.["blobs"])) as (Holder & { blobs: BlobRef[] })[];
}

export function hasBlobs(frame: unknown): boolean {
  return largeFrames(frame).length > 0;
}

/** Put the large contents of a frame into their places. */
export async function restoreBlobs(frame: unknown, load: LoadBlob): Promise<void> {
  for (const large of largeFrames(frame)) {
    for (const { path, blob, is_json } of large.blobs) {
      const text = await load(String(large["session"]), blob);
      let place: Holder = large;
      for (const step of path.slice(0, -1)) place = place[step] as Holder;
      place[path[path.length - 1] as string | number] = is_json ? (JSON.parse(text) as unknown) : text;
    }
  }
}
