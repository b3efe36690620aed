/** The page's socket: it reconnects at once when the network or the page comes back. */

import { EventSocket } from "weft-client";
import { client } from "./rest";

export type { Connection, Follower } from "weft-client";

export class Socket extends EventSocket {
  constructor(address: string) {
    super({ address, loadBlob: client.loadBlob });
  }

  override open(): void {
    super.open();
    window.addEventListener("online", () => this.reconnect());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible" && this.state === "lost") this.reconnect();
    });
  }
}
