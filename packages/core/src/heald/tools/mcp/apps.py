"""Apps of MCP servers: pages (`ui://` resources) that a client shows beside the result of a tool.

This is the extension `io.modelcontextprotocol/ui`. The page is data here: it goes into the `data` of the result, for
clients that show it in a sandbox, and never to the model.
"""

import re
from typing import Any

import mcp_types as types
import msgspec

from heald.core.json import JsonObject, as_list, as_object, encode

APPS = "io.modelcontextprotocol/ui"
MEDIA_TYPE = "text/html;profile=mcp-app"
SETTINGS: dict[str, Any] = {"mimeTypes": [MEDIA_TYPE]}
MAX_PAGE = 400_000
"""Maximum bytes of a page, as JSON. It is stored with each result, and an event has at most 1 MiB."""
MAX_RESULT = 150_000
"""Maximum bytes of a result that a page gets."""
MAX_ARGUMENTS = 50_000
"""Maximum bytes of the arguments that a page gets."""
_MAX_ORIGINS = 20
_ORIGIN = re.compile(r"(?:https|wss)://(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::[0-9]{1,5})?", re.IGNORECASE)


class AppPage(msgspec.Struct, frozen=True, kw_only=True):
    """The page of an app, and the origins that it may use."""

    uri: str
    html: str
    connect: tuple[str, ...] = ()
    """Origins that it may send requests to."""
    resources: tuple[str, ...] = ()
    """Origins that it may load scripts, styles, pictures and fonts from."""


def page_address(tool: types.Tool) -> str | None:
    """Return the address of the page that a tool declares."""
    meta = as_object(tool.meta or {})
    address = as_object(meta.get("ui")).get("resourceUri") or meta.get("ui/resourceUri")
    return address if isinstance(address, str) and address.startswith("ui://") and len(address) <= 1000 else None


def is_for_model(tool: types.Tool) -> bool:
    """Return whether a tool may be offered to a model. Some are for the page of an app alone."""
    audience = as_object(as_object(tool.meta or {}).get("ui")).get("visibility")
    return audience is None or "model" in as_list(audience)


def read_page(uri: str, contents: list[types.TextResourceContents | types.BlobResourceContents]) -> AppPage | None:
    """Return the page in a resource. None if it is not a page, or too large."""
    for content in contents:
        media_type = (content.mime_type or "").replace(" ", "").lower()
        if not isinstance(content, types.TextResourceContents) or media_type != MEDIA_TYPE:
            continue
        if len(content.text) > MAX_PAGE:
            return None
        html = _clean(content.text)
        if len(encode(html)) > MAX_PAGE:
            return None
        policy = as_object(as_object(as_object(content.meta or {}).get("ui")).get("csp"))
        return AppPage(
            uri=uri,
            html=html,
            connect=_origins(policy.get("connectDomains")),
            resources=_origins(policy.get("resourceDomains")),
        )
    return None


def app_data(page: AppPage, arguments: JsonObject, result: types.CallToolResult) -> JsonObject:
    """Return the data of a result that a client shows the page with."""
    dumped: JsonObject = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    if len(encode(dumped)) > MAX_RESULT:
        left_out = {"type": "text", "text": "The result was left out: it is too large."}
        dumped = {"content": [left_out], "isError": bool(result.is_error)}
    if len(encode(arguments)) > MAX_ARGUMENTS:
        arguments = {}
    return {"app": msgspec.to_builtins(page) | {"arguments": arguments, "result": dumped}}


def _clean(text: str) -> str:
    """Replace lone surrogates and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�")


def _origins(values: object) -> tuple[str, ...]:
    """Return the origins among declared values. Others could end the policy that they become part of."""
    return tuple(str(value) for value in as_list(values)[:_MAX_ORIGINS] if _ORIGIN.fullmatch(str(value)))
