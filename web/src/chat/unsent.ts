/** What stays in a box when a message is sent: everything that was written or attached meanwhile. */

import type { Attachment } from "./attachments";

/** The text that was not sent. A text that no longer begins with the one that was sent is a new one. */
export function unsentText(current: string, sent: string): string {
  return current.startsWith(sent) ? current.slice(sent.length).trimStart() : current;
}

export function unsentAttachments(current: Attachment[], sent: readonly Pick<Attachment, "id">[]): Attachment[] {
  const ids = new Set(sent.map((attachment) => attachment.id));
  return current.filter((attachment) => !ids.has(attachment.id));
}
