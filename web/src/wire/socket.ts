/** The page's socket: it reconnects at once when the network or the page comes back. */

import type { EventSocket } from "weft-client";
import { client } from "./rest";

export type { Connection, EventSocket, Follower } from "weft-client";

export function openSocket(): EventSocket {
  const socket = client.createSocket();
  socket.open();
  window.addEventListener("online", () => socket.reconnect());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && socket.state === "lost") socket.reconnect();
  });
  return socket;
}
