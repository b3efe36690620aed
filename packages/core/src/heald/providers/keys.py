"""Finds keys in the environment, then in the keyring of the system or the file of keys."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from heald.providers.key_file import file_key_names
from heald.providers.key_store import read_key, stored_key_names

Origin = Literal["environment", "keyring", "file"]


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
    if stored_name is None:
        return None
    return stored_name, "file" if stored_name in file_key_names() else "keyring"


def keyring_problem(names: Sequence[str]) -> str:
    """Return a sentence on why a stored key cannot be read; empty if it can."""
    stored = stored_key_names() if names else ()
    return next((f" {why}" for name in names if name in stored and (why := read_key(name)[1])), "")


class KeyEnvironment(Mapping[str, str]):
    """A mapping of the environment with the stored keys behind it."""

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
