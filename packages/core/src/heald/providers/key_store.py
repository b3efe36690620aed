"""Stores keys in the keyring of the system, if the `keyring` package is installed.

The keyring stores a key under the name of its variable. A list of these names is stored beside the user's settings, so
the keyring is not opened for a user who stores nothing there.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from heald.config.paths import config_home, write_private_file
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

SERVICE = "heald"
"""The service name in the keyring."""


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
        raise _keyring_error("be stored", error) from None
    if stored != key:
        raise NoKeyring("The keyring of the system did not store the key; set it in the environment.")
    read_key.cache_clear()
    _write_names(sorted({*stored_key_names(), name}))


def delete_key(name: str) -> bool:
    """Delete a key from the keyring; whether there was one."""
    is_stored = name in stored_key_names()
    try:
        if _keyring().get_password(SERVICE, name) is not None:
            _keyring().delete_password(SERVICE, name)
            is_stored = True
    except _keyring_exceptions() as error:
        raise _keyring_error("be deleted", error) from None
    read_key.cache_clear()
    _write_names(sorted({*stored_key_names()} - {name}))
    return is_stored


@cache
def read_key(name: str) -> tuple[str | None, str]:
    """Read a key from the keyring, once; or the reason why it cannot be read."""
    try:
        key = _keyring().get_password(SERVICE, name)
    except ConfigurationError as error:
        return None, str(error)
    except _keyring_exceptions() as error:
        return None, str(_keyring_error("be read", error))
    if not key or not key.strip():
        return None, f"The keyring no longer holds {name}; `heald key set` stores it again."
    return key.strip(), ""


def _names_file() -> Path:
    return config_home() / "keyring.json"


def _write_names(names: list[str]) -> None:
    write_private_file(_names_file(), msgspec.json.encode(names), "The names of keys")


def _keyring() -> Any:
    if not _has_keyring():
        raise NoKeyring(
            f"The keyring of the system needs a package that is not installed: {install_advice('keyring')}."
        )
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


def _has_keyring() -> bool:
    from importlib.util import find_spec

    return find_spec("keyring") is not None
