"""Reads the scope of an ASGI request: its path below the prefix, its headers and its trace."""

from starlette.types import Scope


def route_path(scope: Scope) -> str:
    """The path below the prefix that the server is mounted under."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    rest = path.removeprefix(root)
    return rest if not root or rest.startswith("/") or path == root else path


def single_header(scope: Scope, name: bytes) -> str | None:
    """The value of a header that may occur once; empty if it occurs more often, so that it matches nothing."""
    found = header_values(scope, name)
    if len(found) > 1:
        return ""
    return found[0] if found else None


def read_trace(scope: Scope) -> dict[str, str]:
    """The headers that name the trace of a request."""
    found = {name: single_header(scope, name.encode()) for name in ("traceparent", "tracestate")}
    return {name: value for name, value in found.items() if value}


def header_values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]
