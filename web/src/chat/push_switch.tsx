/** Notifications of this browser: a subscription to Web Push, which the server stores as a webhook. */

import { Button } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { pushSwitch as texts } from "../texts/decide";
import { BASE, get, post } from "../wire/rest";

const WORKER = "assets/push-worker.js";

export function PushSwitch() {
  // A server without heald-notify has no such route, and no button.
  const push = useFetched(isSupported() ? "push key" : null, readPushState, { isVolatile: true });
  if (push.value === null || push.value.isOn) return null;
  const { key } = push.value;
  return (
    <Button small onClick={() => subscribe(key).then(() => push.set({ key, isOn: true })).catch(showFailure)}>
      {texts.notifyMeOnThisDevice}
    </Button>
  );
}

interface PushState {
  /** The key that the server signs with. */
  key: string;
  isOn: boolean;
}

function isSupported(): boolean {
  return "serviceWorker" in navigator && "PushManager" in window;
}

async function readPushState(): Promise<PushState> {
  const view = await get<{ public_key: string }>("/webhooks/push-key");
  const worker = await navigator.serviceWorker.getRegistration(BASE + WORKER);
  return { key: view.public_key, isOn: (await worker?.pushManager.getSubscription()) != null };
}

async function subscribe(key: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") throw new Error(texts.theBrowserDoesNotAllow);
  const worker = await navigator.serviceWorker.register(BASE + WORKER);
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await post("/webhooks", { kind: "push", url: endpoint, public_key: keys?.["p256dh"], secret: keys?.["auth"] });
}
