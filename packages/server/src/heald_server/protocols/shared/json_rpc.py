"""Messages of JSON-RPC, as types for the OpenAPI document."""

from typing import Any, Literal

import msgspec

from heald.core.json import JsonObject


class JsonRpcMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request, a notification (without `id`) or a response (with `result` or `error`)."""

    jsonrpc: Literal["2.0"]
    id: str | int | None = None
    method: str | None = None
    params: JsonObject | None = None
    result: Any = None
    error: JsonObject | None = None
