"""The app of `build_page`: a page (a `ui://` resource) in which MCP hosts show the page that was built.

A host loads it once for the tool, and sends it each result. The built page is in the `_meta` of the result, which
models do not read. It is shown in a frame of its own, without access to the host.
"""

from collections.abc import Sequence

import mcp_types as types

from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.tools.mcp.apps import MEDIA_TYPE
from heald_server.protocols.mcp.prompt import ArgumentStart
from heald_server.protocols.mcp.resource_source import ResourceContents

ADDRESS = "ui://heald/page.html"
PAGE_KEY = "heald/page"
"""The key of the built page in the `_meta` of a result."""
TOOL_META: JsonObject = {"ui": {"resourceUri": ADDRESS, "visibility": ["model", "app"]}}
_APP = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Built page</title>
<style>
html, body { margin: 0; height: 100%; }
body { min-height: 480px; font: 14px system-ui, sans-serif; color: #555; }
iframe { border: 0; width: 100%; height: 100%; min-height: 480px; background: #fff; }
p { padding: 16px; }
</style>
<p role="status">The page is being built…</p>
<script>
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const status = document.querySelector("p");
const show = (result) => {
  const html = (result._meta ?? {})["heald/page"];
  if (typeof html !== "string") {
    status.textContent = (result.content ?? []).find((block) => block.type === "text")?.text ?? "There is no page.";
    return;
  }
  const frame = document.createElement("iframe");
  frame.title = "Built page";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = html;
  document.body.replaceChildren(frame);
};
addEventListener("message", ({ source, data }) => {
  if (source !== parent || typeof data !== "object" || data === null) return;
  if (data.id === 1 && "result" in data) {
    send({ method: "ui/notifications/initialized", params: {} });
    send({ method: "ui/notifications/size-changed", params: { height: 480 } });
  } else if (data.method === "ui/notifications/tool-result") show(data.params ?? {});
  else if (data.method === "ui/notifications/tool-cancelled") status.textContent = "The build was cancelled.";
  else if (data.id !== undefined && (data.method === "ping" || data.method === "ui/resource-teardown")) {
    send({ id: data.id, result: {} });
  }
});
send({
  id: 1,
  method: "ui/initialize",
  params: {
    protocolVersion: "2026-01-26",
    appInfo: { name: "heald-page", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  },
});
</script>
"""


class BuiltPageApp:
    """A `ResourceSource` of one resource."""

    prefix = ADDRESS
    templates: Sequence[types.ResourceTemplate] = ()

    async def list(self, owner: str) -> Sequence[types.Resource]:
        return []  # hosts find it by its tool; it is nothing for a model to read

    async def read(self, owner: str, uri: str) -> ResourceContents:
        if uri != ADDRESS:
            raise HealdError(f"There is no resource {uri[:200]!r}.")
        meta: JsonObject = {"ui": {"csp": {"connectDomains": [], "resourceDomains": []}, "prefersBorder": True}}
        return types.TextResourceContents(uri=ADDRESS, mime_type=MEDIA_TYPE, text=_APP, _meta=meta)

    async def complete(self, start: ArgumentStart) -> Sequence[str]:
        return []
