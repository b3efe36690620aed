"""Where a request carries its token: a header, a WebSocket protocol, or a cookie."""

from starlette.types import Scope

from heald_server.settings import ServerSettings

BEARER_PROTOCOL = "heald.bearer."
"""Prefix of the WebSocket protocol that carries a token."""


def chosen_protocol(scope: Scope) -> str | None:
    """The WebSocket protocol to accept. A browser closes a socket that accepts none of those it offered."""
    offers: list[str] = scope.get("subprotocols") or []
    if "heald" in offers:
        return "heald"
    return next((offered for offered in offers if offered.startswith(BEARER_PROTOCOL)), None)


def cookie_name(settings: ServerSettings, scope: Scope) -> str:
    """All ports of a host share cookies, so the name holds the port of the server."""
    server = scope.get("server") if settings.mounted else None
    return f"heald_{server[1] if server else settings.port}"
