/** Files as the model writes them, before and after their tool has run. */

import type { LogEvent } from "../events.js";

export interface Draft {
  path: string;
  call: string;
  text: string;
  /** The tool has run and the file is what stands here. */
  written: boolean;
}

export class Drafts {
  /** What is being written, or was written last, by path. */
  readonly files = new Map<string, Draft>();
  private readonly settled = new Map<string, Draft>();
  /** The path that was touched last. */
  latest: string | null = null;

  feed(event: LogEvent): void {
    switch (event.type) {
      case "file_preview": {
        const { id, path, offset, text } = event.data;
        const before = this.files.get(path);
        const grown = before !== undefined && before.call === id && offset > 0 ? before.text + text : text;
        this.files.set(path, { path, call: id, text: grown, written: false });
        this.latest = path;
        return;
      }
      case "file_preview_reset": {
        const settled = this.settled.get(event.data.path);
        if (settled === undefined) this.files.delete(event.data.path);
        else this.files.set(event.data.path, settled);
        return;
      }
      case "file_changed": {
        const { path, hash, cause } = event.data;
        const draft = this.files.get(path);
        if (hash === null || (draft !== undefined && draft.call !== cause)) {
          this.files.delete(path);
          this.settled.delete(path);
        }
        return;
      }
      case "tool_result":
        for (const draft of this.files.values()) if (draft.call === event.data.id && event.data.status === "ok") this.settle(draft);
        return;
      default:
        return;
    }
  }

  private settle(draft: Draft): void {
    const settled = { ...draft, written: true };
    this.files.set(draft.path, settled);
    this.settled.set(draft.path, settled);
  }
}
