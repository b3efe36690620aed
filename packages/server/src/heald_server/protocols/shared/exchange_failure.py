"""The failure of an exchange as clients of /v1 know it. By its status and its code they repeat a request, or do not."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.responses import Response

from heald.core.json import JsonObject
from heald_server.http.errors import error_type
from heald_server.http.operations import json_response

_STATUSES: Mapping[str, int] = {
    "configuration": 400,
    "unknown_provider": 400,
    "bad_base_url": 400,
    "invalid_request": 400,
    "context_overflow": 400,
    "content_blocked": 400,
    "quota_exhausted": 402,
    "missing_key": 400,
    "authentication": 400,
    "permission": 400,
    "approval_needed": 403,
    "model_not_found": 404,
    "rate_limited": 429,
    "internal": 500,
    "overloaded": 503,
    "timeout": 504,
    "stalled": 504,
    "answer_too_slow": 504,
}
"""Statuses by code; 502 for all others. Clients repeat a request for 429 and every status from 500 on, so a failure
that would come again has another one. Some clients repeat all but 400, so a key of the server that its provider refuses
is 400 too."""
_CODES: Mapping[str, str] = {
    "context_overflow": "context_length_exceeded",
    "quota_exhausted": "insufficient_quota",
    "rate_limited": "rate_limit_exceeded",
    "overloaded": "server_is_overloaded",
}
"""Codes that clients of this API know under another name."""


@dataclass(frozen=True, slots=True)
class ExchangeFailure:
    """Why a response has no answer."""

    message: str
    cause: str
    """The code in the log."""

    @property
    def status(self) -> int:
        return _STATUSES.get(self.cause, 502)

    @property
    def is_permanent(self) -> bool:
        """Whether the same request would fail again."""
        return self.status < 500 and self.status != 429

    @property
    def code(self) -> str:
        return _CODES.get(self.cause, self.cause)

    @property
    def type(self) -> str:
        return error_type(self.status)

    @property
    def data(self) -> JsonObject:
        return {"message": self.message, "type": self.type, "param": None, "code": self.code}

    def response(self, headers: Mapping[str, str]) -> Response:
        """The response for a request that failed: by our fault, by the provider's, or for lack of somebody to ask.

        What may succeed a second time was repeated already, and tools of the agent have run: clients shall not repeat
        it, as `X-Should-Retry` tells the SDKs of this API.
        """
        return json_response({"error": self.data}, self.status, {**headers, "X-Should-Retry": "false"})
