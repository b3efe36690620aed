/** The page's socket: it reconnects at once when the network or the page comes back, and notices at once when the network goes. */

import type { EventSocket } from "@heald/client";

export function keepConnected(socket: EventSocket): void {
  const check = () => (socket.state === "lost" ? socket.reconnect() : socket.probe());
  window.addEventListener("online", check);
  window.addEventListener("offline", () => socket.probe()); // a server on the same machine is still there
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") check(); // the machine may have slept
  });
}
