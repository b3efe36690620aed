"""The cases in tests of many: a test for each of them costs more to collect and to report than to run."""

import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import pytest

ONLY = os.environ.get("HEALD_CASE", "")
"""The beginning of the names of the cases to run: `chat/T02`. Empty: all of them."""
_NONE: Mapping[str, str] = MappingProxyType({})


def batches(names: Iterable[str], broken: Mapping[str, str] = _NONE) -> list[Any]:
    """The names by wire and group of cases: `chat-T`. A case that is known to be broken, with the reason, is alone."""
    groups: dict[str, list[str]] = {}
    alone: list[Any] = []
    for name in names:
        if not name.startswith(ONLY):
            continue
        if name in broken:
            alone.append(pytest.param([name], marks=pytest.mark.xfail(strict=True, reason=broken[name]), id=name))
            continue
        wire, _, case = name.partition("/")
        groups.setdefault(f"{wire}-{case[0]}", []).append(name)
    return [*(pytest.param(group, id=title) for title, group in groups.items()), *alone]


@contextmanager
def running(name: str) -> Generator[None]:
    """Name the case in the error that it raises."""
    try:
        yield
    except Exception as error:
        error.add_note(f"The case is {name}.")
        raise
