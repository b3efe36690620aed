"""Finds keys in the environment, then in the keyring of the system, if the `keyring` package is installed.

The keyring stores a key under the name of its variable. A list of these names is stored beside the user's settings, so
the keyring is not opened for a user who stores nothing there.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from weft.config.paths import config_home, write_private_file
from weft.core.errors import ConfigurationError

SERVICE = "weft"
"""The service name in the keyring."""
Origin = Literal["environment", "keyring"]
_INSTALL = "pip install 'weft[keyring]'"


def find_key(names: Sequence[str]) -> str | None:
    """Find the first key under one of the names."""
    for name in names:
        key = os.environ.get(name, "").strip()
        if key:
            return key
    stored = stored_key_names() if names else ()
    return next((key for name in names if name in stored and (key := _read_key(name)[0])), None)


def has_key(names: Sequence[str]) -> bool:
    """Whether a key exists. The keyring is not opened."""
    return find_key_origin(names) is not None


def find_key_origin(names: Sequence[str]) -> tuple[str, Origin] | None:
    """Find the name under which a key is found, and where."""
    held = next((name for name in names if os.environ.get(name, "").strip()), None)
    if held is not None:
        return held, "environment"
    stored = stored_key_names() if names else ()
    found = next((name for name in names if name in stored), None)
    return (found, "keyring") if found is not None else None


def keyring_problem(names: Sequence[str]) -> str:
    """Return a sentence on why a stored key cannot be read from the keyring; empty if it can."""
    stored = stored_key_names() if names else ()
    return next((f" {why}" for name in names if name in stored and (why := _read_key(name)[1])), "")


class KeyEnvironment(Mapping[str, str]):
    """A mapping of the environment with the keyring behind it."""

    def __getitem__(self, name: str) -> str:
        found = os.environ.get(name)
        if not found:
            found = find_key((name,)) or found
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({*os.environ, *stored_key_names()})

    def __len__(self) -> int:
        return len({*os.environ, *stored_key_names()})


# --- the keyring ----------------------------------------------------------------------------------------------------


class NoKeyring(ConfigurationError):
    """The system has no keyring that works, or the package for it is not installed."""


def stored_key_names() -> tuple[str, ...]:
    """Return the names of the keys in the keyring."""
    try:
        return msgspec.json.decode(_names_file().read_bytes(), type=tuple[str, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def store_key(name: str, key: str) -> None:
    """Store a key in the keyring; NoKeyring if there is none that works."""
    try:
        _keyring().set_password(SERVICE, name, key)
        stored = _keyring().get_password(SERVICE, name)
    except _keyring_exceptions() as error:
        raise _keyring_error("be kept", error) from None
    if stored != key:
        raise NoKeyring("The keyring of the system did not keep the key; set it in the environment.")
    _read_key.cache_clear()
    _write_names(sorted({*stored_key_names(), name}))


def delete_key(name: str) -> bool:
    """Delete a key from the keyring; whether there was one."""
    known = name in stored_key_names()
    try:
        if _keyring().get_password(SERVICE, name) is not None:
            _keyring().delete_password(SERVICE, name)
            known = True
    except _keyring_exceptions() as error:
        raise _keyring_error("be taken out", error) from None
    _read_key.cache_clear()
    _write_names(sorted({*stored_key_names()} - {name}))
    return known


@cache
def _read_key(name: str) -> tuple[str | None, str]:
    """Read a key from the keyring, once; or the reason why it cannot be read."""
    try:
        key = _keyring().get_password(SERVICE, name)
    except ConfigurationError as error:
        return None, str(error)
    except _keyring_exceptions() as error:
        return None, str(_keyring_error("be read", error))
    if not key or not key.strip():
        return None, f"The keyring no longer holds {name}; `weft key set` gives it back."
    return key.strip(), ""


def _keyring() -> Any:
    if not _has_keyring():
        raise NoKeyring(f"The keyring of the system needs a package that is not installed: {_INSTALL}.")
    ring: Any = import_module("keyring")
    return ring


def _keyring_exceptions() -> tuple[type[Exception], ...]:
    """Return the exceptions of a keyring: its own, and those of the bus or library behind it."""
    return (Exception,) if _has_keyring() else (OSError,)


def _keyring_error(what: str, error: Exception) -> ConfigurationError:
    if isinstance(error, ConfigurationError):
        return error
    if type(error).__name__ == "NoKeyringError":
        return NoKeyring(f"The key cannot {what}: this system has no keyring; set it in the environment.")
    return NoKeyring(
        f"The key cannot {what}: the keyring of the system reports {type(error).__name__}; unlock it, "
        "or set the key in the environment."
    )


def _names_file() -> Path:
    return config_home() / "keyring.json"


def _write_names(names: list[str]) -> None:
    write_private_file(_names_file(), msgspec.json.encode(names), "The names of keys")


def _has_keyring() -> bool:
    from importlib.util import find_spec

    return find_spec("keyring") is not None
