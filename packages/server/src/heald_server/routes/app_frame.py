"""The frame in which the page shows apps of MCP servers: an empty document that accepts one page from its parent.

It has an opaque origin and no network, except for the origins that the app declares. The page around it forbids
navigation to other hosts.
"""

import re
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heald.core.json import encode_text
from heald_server.http.route_description import RouteDescription

PATH = "/app-frame"
_MAX_ORIGINS = 20
_ORIGIN = re.compile(r"(?:https|wss)://(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]{1,5})?", re.IGNORECASE)
_describe = partial(RouteDescription, "GET", tag="about", is_public=True, media_type="text/html")
_GUARD = """
  for (const name of ["alert", "confirm", "prompt", "print"]) window[name] = () => undefined;
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCIceTransport"]) delete window[name];
  const quiet = (frame) => {
    if (frame.getAttribute("sandbox") === "") return;
    const { parentNode, nextSibling } = frame;
    frame.remove();
    frame.setAttribute("sandbox", "");
    parentNode?.insertBefore(frame, nextSibling);
  };
  new MutationObserver((changes) => {
    for (const change of changes) {
      for (const node of change.type === "childList" ? change.addedNodes : [change.target]) {
        if (node.nodeName === "IFRAME") quiet(node);
        else node.querySelectorAll?.("iframe").forEach(quiet);
      }
    }
  }).observe(document, { subtree: true, childList: true, attributeFilter: ["sandbox", "srcdoc"] });
"""
"""Runs before the scripts of an app: no policy covers WebRTC, and frames inside get no scripts, so none has it."""
_DOCUMENT = """<!doctype html><meta charset="utf-8"><script>
{
  const guard = GUARD;
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.heald !== "app") return;
    // Frames and refreshes are forbidden here, and Chromium would connect to their hosts before it says so.
    const text = String(event.data.html)
      .replace(/<(\\/?)(?=i?frame\\b)/gi, "<$1x-")
      .replace(/http-equiv(?=\\s*=\\s*["']?\\s*refresh)/gi, "data-http-equiv");
    const start = /^\\s*<!doctype[^>]*>/i.exec(text);
    const at = start ? start[0].length : 0;
    // The policy and the sandbox of the response stay in force.
    document.open();
    document.write(`${text.slice(0, at)}<script>{${guard}}<${"/"}script>${text.slice(at)}`);
    document.close();
  });
  parent.postMessage({ heald: "app-ready" }, "*");
}
</script>
""".replace("GUARD", encode_text(_GUARD)).encode()


def app_frame_routes() -> list[BaseRoute | RouteDescription]:
    """Return the route of the frame."""
    return [
        Route(PATH, _frame, methods=["GET"]),
        _describe(PATH, "The frame in which the page shows an app of an MCP server."),
    ]


async def _frame(request: Request) -> Response:
    origin = f"{request.url.scheme}://{request.headers.get('host', '')}"
    connect = _origins(request.query_params.getlist("connect")) or "'none'"
    resources = _origins(request.query_params.getlist("resource"))
    policy = (
        f"sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' {resources}; "
        f"style-src 'unsafe-inline' {resources}; img-src data: blob: {resources}; font-src data: {resources}; "
        f"media-src data: blob: {resources}; connect-src {connect}; base-uri 'none'; form-action 'none'; "
        f"frame-src 'none'; object-src 'none'; worker-src 'none'; frame-ancestors {origin}"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Cache-Control": "private, max-age=600",
        "X-Frame-Options": "SAMEORIGIN",
        "X-DNS-Prefetch-Control": "off",
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), clipboard-read=()",
    }
    return Response(_DOCUMENT, 200, headers, "text/html; charset=utf-8")


def _origins(values: list[str]) -> str:
    """The origins among values. Others could end the policy that they become part of."""
    return " ".join(value for value in values[:_MAX_ORIGINS] if _ORIGIN.fullmatch(value))
