/** The app of an MCP server that shows the result of its tool, in a sandbox: an opaque origin, and no network beyond
 * the origins that it declares. What it sends is data. */

import type { Json, JsonObject, ToolItem } from "@heald/client";
import { useEffect, useRef, useState } from "react";

const PROTOCOL = "2026-01-26";
const METHOD_NOT_FOUND = -32601;
const [LEAST, USUAL, MOST] = [60, 320, 720];

export interface App {
  html: string;
  connect: string[];
  resources: string[];
  arguments: Json;
  result: Json;
}

/** The app that a tool's result comes with. */
export function appOf(item: ToolItem): App | null {
  const app = objectOf(item.result?.data?.["app"]);
  const html = app?.["html"];
  if (app === null || typeof html !== "string") return null;
  return {
    html,
    connect: textsOf(app["connect"]),
    resources: textsOf(app["resources"]),
    arguments: app["arguments"] ?? {},
    result: app["result"] ?? {},
  };
}

export function AppFrame({ app, title }: { app: App; title: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [height, setHeight] = useState(USUAL);

  useEffect(() => {
    const send = (message: JsonObject) => frame.current?.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
    const onMessage = (event: MessageEvent) => {
      const message = objectOf(event.data);
      if (event.source !== frame.current?.contentWindow || message === null) return;
      if (message["heald"] === "app-ready") {
        frame.current?.contentWindow?.postMessage({ heald: "app", html: app.html }, "*");
        return;
      }
      const id = message["id"];
      switch (message["method"]) {
        case "ui/initialize":
          if (isId(id)) send({ id, result: welcome() });
          break;
        case "ui/notifications/initialized":
          send({ method: "ui/notifications/tool-input", params: { arguments: app.arguments } });
          send({ method: "ui/notifications/tool-result", params: app.result });
          break;
        case "ui/notifications/size-changed": {
          const asked = objectOf(message["params"])?.["height"];
          if (typeof asked === "number" && asked > 0) setHeight(Math.min(Math.max(Math.ceil(asked), LEAST), MOST));
          break;
        }
        case "ping":
          if (isId(id)) send({ id, result: {} });
          break;
        default:
          if (isId(id) && typeof message["method"] === "string") {
            send({ id, error: { code: METHOD_NOT_FOUND, message: "This host does not offer that to apps." } });
          }
      }
    };
    window.addEventListener("message", onMessage);
    return () => window.removeEventListener("message", onMessage);
  }, [app]);

  const query = new URLSearchParams([
    ...app.connect.map((origin) => ["connect", origin]),
    ...app.resources.map((origin) => ["resource", origin]),
  ]);
  return (
    <iframe
      ref={frame}
      className="app-frame"
      title={title}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      style={{ height }}
      src={`app-frame?${query}`}
    />
  );
}

function welcome(): JsonObject {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    protocolVersion: PROTOCOL,
    hostInfo: { name: "heald", version: "1" },
    hostCapabilities: { logging: {} },
    hostContext: {
      theme: document.documentElement.dataset["theme"] ?? (dark ? "dark" : "light"),
      displayMode: "inline",
      availableDisplayModes: ["inline"],
      platform: "web",
      locale: navigator.language,
    },
  };
}

function isId(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function objectOf(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];
}
