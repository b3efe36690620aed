"""Stores keys in the keyring of the system, or in a private file on a machine that has no keyring.

The keyring stores a key under the name of its variable. A list of these names is stored beside the user's settings, so
the keyring is not opened for a user who stores nothing there. `key_file` is the second store.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from heald.config.paths import config_home, write_private_file
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError
from heald.providers.key_file import delete_file_key, encrypts_keys, file_key_names, read_file_key, write_file_key

KeyPlace = Literal["keyring", "encrypted_file", "file"]
"""Where a key is stored."""
SERVICE = "heald"
"""The service name in the keyring."""
_NO_BACKENDS = ("keyring.backends.fail", "keyring.backends.null")
"""What the package chooses if the system has no keyring, or if its user turned it off."""


class NoKeyring(ConfigurationError):
    """The system has no keyring that works, or the package for it is not installed."""


def stored_key_names() -> tuple[str, ...]:
    """Return the names of the keys in the keyring and in the file."""
    return (*keyring_names(), *file_key_names())


def keyring_names() -> tuple[str, ...]:
    """Return the names of the keys in the keyring, without opening it."""
    try:
        return msgspec.json.decode(_names_file().read_bytes(), type=tuple[str, ...])
    except (OSError, msgspec.DecodeError):
        return ()


def key_place() -> KeyPlace:
    """Return where a key that is stored now goes. The keyring is looked for, not unlocked."""
    if not missing_keyring():
        return "keyring"
    return "encrypted_file" if encrypts_keys() else "file"


def missing_keyring() -> str:
    """Return why there is no keyring to store keys in; empty if there is one."""
    if not _has_keyring():
        return "the package keyring is not installed"
    try:
        backend: Any = import_module("keyring").get_keyring()
        has_backend = type(backend).__module__ not in _NO_BACKENDS and backend.priority > 0
    except Exception as error:  # a backend has exceptions of its own, and those of the bus behind it
        return f"the keyring of the system reports {type(error).__name__}"
    return "" if has_backend else "this system has no keyring"


def store_key(name: str, key: str) -> KeyPlace:
    """Store a key in the keyring, or in the file if there is no keyring. NoKeyring if the keyring refuses it."""
    place = key_place()
    if place == "keyring":
        _store_in_keyring(name, key)
        delete_file_key(name)
    else:
        write_file_key(name, key)
        if name in keyring_names():
            _write_names(sorted({*keyring_names()} - {name}))
    read_key.cache_clear()
    return place


def _store_in_keyring(name: str, key: str) -> None:
    try:
        _keyring().set_password(SERVICE, name, key)
        stored = _keyring().get_password(SERVICE, name)
    except _keyring_exceptions() as error:
        raise _keyring_error("be stored", error) from None
    if stored != key:
        raise NoKeyring("The keyring of the system did not store the key; set it in the environment.")
    _write_names(sorted({*keyring_names(), name}))


def delete_key(name: str) -> bool:
    """Delete a key from the keyring and the file; whether there was one."""
    is_stored = delete_file_key(name)
    if name in keyring_names() or not missing_keyring():
        is_stored = _delete_from_keyring(name) or is_stored
    read_key.cache_clear()
    return is_stored


def _delete_from_keyring(name: str) -> bool:
    is_stored = name in keyring_names()
    try:
        if _keyring().get_password(SERVICE, name) is not None:
            _keyring().delete_password(SERVICE, name)
            is_stored = True
    except _keyring_exceptions() as error:
        raise _keyring_error("be deleted", error) from None
    if is_stored:
        _write_names(sorted({*keyring_names()} - {name}))
    return is_stored


@cache
def read_key(name: str) -> tuple[str | None, str]:
    """Read a stored key, once; or the reason why it cannot be read."""
    try:
        key = read_file_key(name) if name in file_key_names() else None
        if key is not None:
            return key.strip(), ""
    except ConfigurationError as error:
        return None, str(error)
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
