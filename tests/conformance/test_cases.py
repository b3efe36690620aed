"""Every case, through the codec in three cuts. End to end: see test_end_to_end.py."""

import pytest

from weft.core.errors import ErrorInfo
from weft.core.json import encode
from weft.core.messages import decode_messages

from .case import Case, all_cases
from .matching import match
from .runner import build_next, build_request, check, cut_at_random, decode

CASES = all_cases()
STREAMS = [name for name, case in CASES.items() if case.stream is not None]
REQUESTS = [name for name, case in CASES.items() if case.expect_request is not None]


def check_codec(case: Case, pieces: list[bytes]) -> None:
    events, decoder = decode(case, pieces)
    error: ErrorInfo | None = decoder.error.info() if decoder.error is not None else None
    check(case, events, decoder.message, error)
    assert case.expect is not None
    if case.expect.ignored is not None:
        assert decoder.ignored_count == case.expect.ignored
    if decoder.message is None:
        return
    request = build_next(case, decoder.message, decoder.stop_reason)
    (stored,) = decode_messages(encode([decoder.message]))
    assert encode(build_next(case, stored, decoder.stop_reason)) == encode(request)
    if case.expect_next is not None:
        match(case.expect_next, request)


@pytest.mark.parametrize("name", STREAMS)
def test_whole(name: str) -> None:
    case = CASES[name]
    check_codec(case, [b"".join(case.pieces())])


@pytest.mark.parametrize("name", STREAMS)
def test_byte_by_byte(name: str) -> None:
    case = CASES[name]
    data = b"".join(case.pieces())
    check_codec(case, [data[at : at + 1] for at in range(len(data))])


@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_random(name: str) -> None:
    case = CASES[name]
    for seed in range(3):
        check_codec(case, cut_at_random(b"".join(case.pieces()), f"{name}/{seed}"))


@pytest.mark.parametrize("name", REQUESTS)
def test_request(name: str) -> None:
    case = CASES[name]
    match(case.expect_request, build_request(case, case.history))


@pytest.mark.parametrize("name", REQUESTS)
def test_a_stored_history_makes_the_same_request(name: str) -> None:
    """G12: encode, decode, and the request is the same to the byte."""
    case = CASES[name]
    stored = decode_messages(encode(case.history))
    assert encode(build_request(case, stored)) == encode(build_request(case, case.history))
