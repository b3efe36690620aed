import re
import subprocess
import sys
from collections.abc import Iterator
from typing import TypeVar, get_args

import msgspec
import pytest

from heald.core import errors
from heald.core.errors import ErrorCode, ErrorInfo, HealdError, ProviderError
from heald.core.ids import new_id
from heald.core.json import encode

E = TypeVar("E", bound=HealdError)

RETRYABLE = {
    "RateLimited",
    "Overloaded",
    "ServerFault",
    "ProviderTimeout",
    "Stalled",
    "ConnectionFailed",
    "IncompleteStream",
    "GarbledStream",
}


def _kinds(base: type[E]) -> Iterator[type[E]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds(kind)


KINDS = [kind for kind in _kinds(HealdError) if kind.__module__ == errors.__name__]
PROVIDER_KINDS = [kind for kind in _kinds(ProviderError) if kind in KINDS and kind is not ProviderError]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_code_of_the_vocabulary(kind: type[HealdError]) -> None:
    assert kind.code in get_args(ErrorCode)
    assert kind("what is wrong").info().code == kind.code
    assert kind("what is wrong").info().message == "what is wrong"


def test_codes_report_provider_errors_apart() -> None:
    told = [(kind.code, kind.retryable) for kind in PROVIDER_KINDS]
    assert len(told) == len(set(told))


@pytest.mark.parametrize("kind", PROVIDER_KINDS)
def test_only_passing_trouble_is_retried(kind: type[ProviderError]) -> None:
    assert kind.retryable is (kind.__name__ in RETRYABLE)
    assert kind("x").info().retryable is kind.retryable


def test_info_carries_what_the_provider_sent() -> None:
    error = errors.RateLimited("slow down", status=429, provider_code="rpm", retry_after=2.5, request_id="req_1")
    assert error.retry_after == 2.5
    assert error.info() == ErrorInfo(
        code="rate_limited",
        message="slow down",
        retryable=True,
        status=429,
        provider_code="rpm",
        request_id="req_1",
    )


def test_info_survives_encoding_and_omits_what_is_not_known() -> None:
    info = errors.MissingKey("set OPENAI_API_KEY").info()
    assert encode(info) == b'{"code":"missing_key","message":"set OPENAI_API_KEY"}'
    assert msgspec.json.decode(encode(info), type=ErrorInfo) == info


def test_configuration_errors_can_be_caught_as_one() -> None:
    for kind in (errors.UnknownProvider, errors.MissingKey, errors.BadBaseUrl):
        with pytest.raises(errors.ConfigurationError):
            raise kind("x")
        assert not issubclass(kind, ProviderError)


def test_ids_are_readable_and_never_repeat() -> None:
    ids = {new_id("call") for _ in range(1000)}
    assert len(ids) == 1000
    assert all(re.fullmatch(r"call_[0-9a-f]{20}", identifier) for identifier in ids)


def test_ids_differ_after_a_fork() -> None:
    script = (
        "import os; from heald.core.ids import new_id; new_id('x'); child = os.fork();"
        "child and os.waitpid(child, 0); print(new_id('x'))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert len(set(printed)) == 2
