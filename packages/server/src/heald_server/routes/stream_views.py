"""Requests of the routes for streams."""

import msgspec

from heald_server.routes.fields import Name


class StreamQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: Name = "native"
    after: str | None = None


class SocketQuery(msgspec.Struct, frozen=True, kw_only=True):
    dialect: str = "native"
    after: str | None = None
