"""Parsers of foreign bytes under mutated input: they end, raise only what they document, and mind no split.

`make fuzz` tries a hundred times as many, with new seeds. An input that once failed is kept in `corpus`, by target.
"""

import os
import random
from pathlib import Path

import pytest
from fuzz_targets import TARGETS, Target, mutate, split

CORPUS = Path(__file__).parent / "corpus"
ROUNDS = int(os.environ.get("HEALD_FUZZ_ROUNDS", "400"))
SEED = int(os.environ.get("HEALD_FUZZ_SEED", "1"))


def _kept(name: str) -> list[bytes]:
    folder = CORPUS / name.replace(" ", "_")
    return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []


def _check(target: Target, data: bytes, source: random.Random) -> None:
    whole = target.run([data])
    if target.in_pieces:
        assert target.run(split(data, source)) == whole, data
        assert target.run([data[at : at + 1] for at in range(min(len(data), 2000))]) == target.run([data[:2000]]), data


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_input(name: str) -> None:
    target, source = TARGETS[name], random.Random(f"{SEED} {name}")
    pool = [*target.seeds, *_kept(name)]
    for data in pool:
        _check(target, data, source)
    for _ in range(ROUNDS):
        data = mutate(source.choice(pool), source, pool)
        try:
            _check(target, data, source)
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {error}\ninput: {data[:3000]!r}")
        if len(pool) < 300 and len(data) < 20_000:
            pool.append(data)
