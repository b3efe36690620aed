"""Finds keys in the environment, then in the keyring of the system."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from heald.providers.key_store import read_key, stored_key_names

Origin = Literal["environment", "keyring"]


def find_key(names: Sequence[str]) -> str | None:
    """Find the first key under one of the names."""
    for name in names:
        key = os.environ.get(name, "").strip()
        if key:
            return key
    stored = stored_key_names() if names else ()
    return next((key for name in names if name in stored and (key := read_key(name)[0])), None)


def has_key(names: Sequence[str]) -> bool:
    """Whether a key exists. The keyring is not opened."""
    return find_key_origin(names) is not None


def find_key_origin(names: Sequence[str]) -> tuple[str, Origin] | None:
    """Find the name under which a key is found, and where."""
    variable = next((name for name in names if os.environ.get(name, "").strip()), None)
    if variable is not None:
        return variable, "environment"
    stored = stored_key_names() if names else ()
    stored_name = next((name for name in names if name in stored), None)
    return (stored_name, "keyring") if stored_name is not None else None


def keyring_problem(names: Sequence[str]) -> str:
    """Return a sentence on why a stored key cannot be read from the keyring; empty if it can."""
    stored = stored_key_names() if names else ()
    return next((f" {why}" for name in names if name in stored and (why := read_key(name)[1])), "")


class KeyEnvironment(Mapping[str, str]):
    """A mapping of the environment with the keyring behind it."""

    def __getitem__(self, name: str) -> str:
        value = os.environ.get(name)
        if not value:
            value = find_key((name,)) or value
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter({*os.environ, *stored_key_names()})

    def __len__(self) -> int:
        return len({*os.environ, *stored_key_names()})
