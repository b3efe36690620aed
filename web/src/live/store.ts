/** The page's store of conversations: at the pace of the display, with a connection that is looked after. */

import { LiveStore } from "@heald/client";
import { client } from "../wire/rest";
import { keepConnected } from "../wire/socket";
import { clearDraft, outboxStorage, unsentSessions } from "./outbox";

export function openStore(): LiveStore {
  const store = new LiveStore(client, {
    isVisible: () => document.visibilityState === "visible",
    onFrame: (callback) => requestAnimationFrame(callback),
    outboxStorage,
    onSent: clearDraft,
  });
  store.open();
  for (const session of unsentSessions()) store.outbox(session);
  keepConnected(store.socket);
  return store;
}
