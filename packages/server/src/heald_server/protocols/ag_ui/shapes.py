"""Bodies and events of `/agui`, as types. The OpenAPI document is made from them."""

from typing import Any

import msgspec

from heald.core.json import JsonObject


class AGUIBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The input of an AG-UI run."""

    messages: list[JsonObject]
    thread_id: str | None = None
    run_id: str | None = None
    protocol_version: str | None = None
    state: Any = None
    tools: list[JsonObject] | None = None
    context: list[JsonObject] | None = None
    forwarded_props: Any = None
    resume: list[JsonObject] | None = None


class AGUIEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event of the AG-UI protocol."""

    type: str
