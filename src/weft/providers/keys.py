"""Keys: from the environment, then from the keyring of the system, where the `keyring` package is installed.

In the keyring a key stands under the name of its variable. A list of those names, without the keys, is kept beside the
user's settings, so that nobody who keeps nothing there is asked to unlock anything.
"""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec

from weft.config.places import config_home
from weft.core.errors import ConfigurationError

SERVICE = "weft"
"""Under which the keyring keeps them."""
Origin = Literal["environment", "keyring"]
_INSTALL = "pip install 'weft[keyring]'"


def key_of(names: Sequence[str]) -> str | None:
    """The first key that is found under one of the names."""
    for name in names:
        key = os.environ.get(name, "").strip()
        if key:
            return key
    kept = kept_names() if names else ()
    return next((key for name in names if name in kept and (key := _fetched(name)[0])), None)


def has_key(names: Sequence[str]) -> bool:
    """Whether there is one. The keyring is not opened for that."""
    return origin_of(names) is not None


def origin_of(names: Sequence[str]) -> tuple[str, Origin] | None:
    """The name that a key is found under, and where."""
    held = next((name for name in names if os.environ.get(name, "").strip()), None)
    if held is not None:
        return held, "environment"
    kept = kept_names() if names else ()
    found = next((name for name in names if name in kept), None)
    return (found, "keyring") if found is not None else None


def locked(names: Sequence[str]) -> str:
    """A sentence on why a key that is kept in the keyring could not be had, or nothing."""
    kept = kept_names() if names else ()
    return next((f" {why}" for name in names if name in kept and (why := _fetched(name)[1])), "")


class KeyEnvironment(Mapping[str, str]):
    """The environment, and the keyring behind it, for whoever looks keys up by their variables."""

    def __getitem__(self, name: str) -> str:
        found = os.environ.get(name)
        if not found:
            found = key_of((name,)) or found
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter({*os.environ, *kept_names()})

    def __len__(self) -> int:
        return len({*os.environ, *kept_names()})


# --- the keyring ----------------------------------------------------------------------------------------------------


def kept_names() -> tuple[str, ...]:
    """The names that were given to the keyring."""
    try:
        return msgspec.json.decode(_list().read_bytes(), type=tuple[str, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def keep_key(name: str, key: str) -> None:
    """Give a key to the keyring. Raises ConfigurationError where there is none."""
    try:
        _keyring().set_password(SERVICE, name, key)
        kept = _keyring().get_password(SERVICE, name)
    except _faults() as error:
        raise _refused("be kept", error) from None
    if kept != key:
        raise ConfigurationError("The keyring of the system did not keep the key; set it in the environment.")
    _fetched.cache_clear()
    _write_names(sorted({*kept_names(), name}))


def drop_key(name: str) -> bool:
    """Take a key out of the keyring; whether there was one."""
    known = name in kept_names()
    try:
        if _keyring().get_password(SERVICE, name) is not None:
            _keyring().delete_password(SERVICE, name)
            known = True
    except _faults() as error:
        raise _refused("be taken out", error) from None
    _fetched.cache_clear()
    _write_names(sorted({*kept_names()} - {name}))
    return known


@cache
def _fetched(name: str) -> tuple[str | None, str]:
    """A key out of the keyring, asked for once; or why it cannot be had."""
    try:
        key = _keyring().get_password(SERVICE, name)
    except ConfigurationError as error:
        return None, str(error)
    except _faults() as error:
        return None, str(_refused("be read", error))
    if not key or not key.strip():
        return None, f"The keyring no longer holds {name}; `weft key set` gives it back."
    return key.strip(), ""


def _keyring() -> Any:
    if find_spec("keyring") is None:
        raise ConfigurationError(f"The keyring of the system needs a package that is not installed: {_INSTALL}.")
    ring: Any = import_module("keyring")
    return ring


def _faults() -> tuple[type[Exception], ...]:
    """What a keyring may raise: its own errors, and those of the bus or the library that it speaks to."""
    return (Exception,) if find_spec("keyring") is not None else (OSError,)


def _refused(what: str, error: Exception) -> ConfigurationError:
    if isinstance(error, ConfigurationError):
        return error
    if type(error).__name__ == "NoKeyringError":
        return ConfigurationError(f"The key cannot {what}: this system has no keyring; set it in the environment.")
    return ConfigurationError(
        f"The key cannot {what}: the keyring of the system says {type(error).__name__}; unlock it, "
        "or set the key in the environment."
    )


def _list() -> Path:
    return config_home() / "keyring.json"


def _write_names(names: list[str]) -> None:
    folder = config_home()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=folder, prefix=".keyring-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(names))
        os.replace(part, _list())
    except OSError as error:
        raise ConfigurationError(f"The names of keys cannot be kept in {folder}: {error.strerror}.") from None
