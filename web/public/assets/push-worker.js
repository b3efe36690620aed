// Shows the notifications of the server, and opens their link.

self.addEventListener("push", (event) => {
  const { title, body, link } = event.data?.json() ?? {};
  event.waitUntil(self.registration.showNotification(title ?? "Heald", { body: body ?? "", tag: link, data: { link } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const link = event.notification.data?.link;
  // Only addresses of this server: a notification leads nowhere else.
  if (typeof link === "string" && new URL(link, self.location.href).origin === self.location.origin) {
    event.waitUntil(self.clients.openWindow(link));
  }
});
