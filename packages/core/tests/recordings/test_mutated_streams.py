"""A stream in which one member is missing, null or of another type raises nothing but errors of Heald.

By default a part of the mutations is tried; `make fuzz-wires` tries every value at every path, and more
(HEALD_FUZZ_ROUNDS, HEALD_FUZZ_SEED).
"""

import os
import traceback

import pytest
from corpus import present
from mutations import Mutation, choose_mutations, read_streams, try_stream, write_stream

pytestmark = present

ROUNDS = int(os.environ.get("HEALD_FUZZ_ROUNDS", "1000"))
SEED = int(os.environ.get("HEALD_FUZZ_SEED", "1"))
SHARE = 1 if "HEALD_FUZZ_ROUNDS" in os.environ else 8


@pytest.fixture(scope="module")
def mutations() -> list[Mutation]:
    return choose_mutations(read_streams(SHARE), ROUNDS, SEED)


def test_nothing_is_raised_but_errors_of_heald(mutations: list[Mutation]) -> None:
    raised: dict[str, str] = {}
    for mutation in mutations:
        try:
            try_stream(mutation.place.stream, mutation.body)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raised.setdefault(f"{place.filename}:{place.lineno} {type(error).__name__}", mutation.describe())
    print(f"{len(mutations):,} mutated streams")
    assert raised == {}


def test_the_streams_raise_nothing_as_they_are() -> None:
    for stream in read_streams(SHARE):
        try_stream(stream, write_stream(stream.wire, stream.events))
