"""Every case, through the codec in three cuts. End to end: see test_end_to_end.py."""

import sys
from collections.abc import Iterator

import pytest

from heald.core.errors import ErrorInfo
from heald.core.json import encode
from heald.core.messages import decode_messages

from .batches import batches, running
from .case import Case, all_cases
from .matching import match
from .runner import build_next, build_request, check, cut_at_random, decode

CASES = all_cases()
STREAMS = [name for name, case in CASES.items() if case.stream is not None]
REQUESTS = [name for name, case in CASES.items() if case.expect_request is not None]


def check_codec(case: Case, pieces: list[bytes], *, join_from: int = sys.maxsize) -> None:
    events, decoder = decode(case, pieces, join_from=join_from)
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


def cuts(name: str, data: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """The stream whole, byte by byte, and cut at random places."""
    yield "whole", [data]
    yield "byte by byte", [data[at : at + 1] for at in range(len(data))]
    for seed in range(3):
        yield f"at random, {seed}", cut_at_random(data, f"{name}/{seed}")


@pytest.mark.parametrize("names", batches(STREAMS))
def test_stream_in_every_cut(names: list[str]) -> None:
    for name in names:
        for cut, pieces in cuts(name, b"".join(CASES[name].pieces())):
            with running(f"{name}, cut {cut}"):
                check_codec(CASES[name], pieces)


@pytest.mark.parametrize("names", batches(STREAMS))
def test_stream_whose_events_are_read_together(names: list[str]) -> None:
    """Joined deltas say the same as each by itself, and so does what is known at the end."""
    for name in names:
        case = CASES[name]
        data = b"".join(case.pieces())
        for cut, pieces in (("whole", [data]), ("at random", cut_at_random(data, f"{name}/together"))):
            with running(f"{name}, read together, cut {cut}"):
                check_codec(case, pieces, join_from=1)
                _, one_by_one = decode(case, pieces)
                _, together = decode(case, pieces, join_from=1)
                outcomes = [
                    (decoder.usage, decoder.provider_usage, decoder.stop_reason, decoder.response_id, decoder.logprobs)
                    for decoder in (one_by_one, together)
                ]
                assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("names", batches(REQUESTS))
def test_request_and_that_of_a_stored_history(names: list[str]) -> None:
    """G12 too: encode, decode, and the request is the same to the byte."""
    for name in names:
        case = CASES[name]
        with running(name):
            request = build_request(case, case.history)
            match(case.expect_request, request)
            stored = decode_messages(encode(case.history))
            assert encode(build_request(case, stored)) == encode(request)
