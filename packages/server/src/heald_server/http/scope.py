"""Parts of an ASGI scope: its path below the prefix, its headers and its trace."""

import re
from urllib.parse import unquote

from starlette.types import Scope

_ABSOLUTE_TARGET = re.compile(rb"(?i:https?|wss?)://([^/]+)(/.*)?\Z", re.DOTALL)


def read_absolute_target(scope: Scope) -> None:
    """Split a request target that is a whole address, as clients send it to a proxy (RFC 9112, section 3.2.2): its path
    is the path, and its authority counts instead of the Host header."""
    if scope["path"].startswith("/"):
        return
    target = _ABSOLUTE_TARGET.match(scope.get("raw_path") or b"")
    if target is not None:
        authority, path = target.groups()
        scope["raw_path"] = path or b"/"
        scope["path"] = unquote(scope["raw_path"].decode("latin-1"))
        headers = [header for header in scope["headers"] if header[0] != b"host"]
        scope["headers"] = [*headers, (b"host", authority.lower())]


def route_path(scope: Scope) -> str:
    """The path below the prefix that the server is mounted under."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    rest = path.removeprefix(root)
    return rest if not root or rest.startswith("/") or path == root else path


def single_header(scope: Scope, name: bytes) -> str | None:
    """The value of a header that may occur once; empty if it occurs more often, so that it matches nothing."""
    values = header_values(scope, name)
    if len(values) > 1:
        return ""
    return values[0] if values else None


def read_trace(scope: Scope) -> dict[str, str]:
    """The headers that name the trace of a request."""
    headers = {name: single_header(scope, name.encode()) for name in ("traceparent", "tracestate")}
    return {name: value for name, value in headers.items() if value}


def header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
