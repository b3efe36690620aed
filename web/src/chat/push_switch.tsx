/** Notifications of this browser: a subscription to Web Push, which the server stores as a webhook. */

import { useEffect, useState } from "react";
import { Button } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { BASE, get, post } from "../wire/rest";

const WORKER = "assets/push-worker.js";

export function PushSwitch() {
  const [key, setKey] = useState("");
  const [on, setOn] = useState<boolean | null>(null);
  useEffect(() => {
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) return;
    // A server without heald-notify has no such route, and no button.
    get<{ public_key: string }>("/webhooks/push-key").then(
      async (view) => {
        const worker = await navigator.serviceWorker.getRegistration(BASE + WORKER);
        setOn((await worker?.pushManager.getSubscription()) != null);
        setKey(view.public_key);
      },
      () => setKey(""),
    );
  }, []);
  if (key === "" || on !== false) return null;
  return (
    <Button small onClick={() => subscribe(key).then(() => setOn(true)).catch(showFailure)}>
      Notify me on this device
    </Button>
  );
}

async function subscribe(key: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") throw new Error("The browser does not allow notifications of this page.");
  const worker = await navigator.serviceWorker.register(BASE + WORKER);
  const subscription = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  await post("/webhooks", { kind: "push", url: endpoint, public_key: keys?.["p256dh"], secret: keys?.["auth"] });
}
