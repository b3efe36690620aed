"""Every recorded HTTP error maps to the right typed error, to be tried again or not."""

import json
import re
from typing import Any

import pytest
from corpus import loader, present

from heald.core.errors import (
    AuthenticationFailed,
    ContentBlocked,
    ContextOverflow,
    GarbledStream,
    InvalidRequest,
    ModelNotFound,
    PermissionRefused,
    ProviderError,
    RateLimited,
    ServerFault,
)
from heald.wires.errors import error_from_response

pytestmark = present

_MODULE = loader()
ERRORS: list[Any] = list(_MODULE.http_errors()) if _MODULE is not None else []

# What a person would say reading status and body, first match wins.
EXPECTED: list[tuple[str, str, type[ProviderError], bool]] = [
    ("401", "", AuthenticationFailed, False),
    ("400", r"API key not valid", AuthenticationFailed, False),
    ("403", r"violates usage guidelines", ContentBlocked, False),
    ("403", "", PermissionRefused, False),
    ("400", r"context length|too long|context window|exceeds the maximum number of tokens", ContextOverflow, False),
    (
        "400",
        r"does not exist|Invalid model|Model not found|not a valid model|supported API model",
        ModelNotFound,
        False,
    ),
    ("404", "", ModelNotFound, False),
    ("429", "", RateLimited, True),
    ("5..", "", ServerFault, True),
    ("400", "tool_use_failed", GarbledStream, True),
    ("400", "", InvalidRequest, False),
]


@pytest.mark.parametrize("error", [pytest.param(e, id=e["id"]) for e in ERRORS])
def test_http_error_has_its_type(error: Any) -> None:
    body = error["body"] if isinstance(error["body"], str) else json.dumps(error["body"])
    _, _, kind, retryable = next(
        row for row in EXPECTED if re.fullmatch(row[0], str(error["status"])) and re.search(row[1], body)
    )
    decoded = error_from_response(error["status"], error["headers"] or {}, body.encode())
    assert type(decoded) is kind
    assert decoded.retryable is retryable
    assert decoded.status == error["status"]
    assert str(decoded)


def test_waits_are_read_from_headers_and_bodies() -> None:
    waits = {e["provider"]: e for e in ERRORS if e["status"] == 429}
    for error in waits.values():
        assert error_from_response(429, error["headers"], error["body"].encode()).retry_after
