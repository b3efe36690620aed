"""Stores the tokens of MCP servers by their URL: in the keyring of the system, else in files of mode 0600."""

from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from heald.config.paths import config_home, write_private_file
from heald.core.errors import ConfigurationError

SERVICE = "heald-mcp"
"""The service name in the keyring."""


class StoredSignIn(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of a sign-in, as the MCP package represents its parts in JSON."""

    tokens: dict[str, Any] | None = None
    expires: float | None = None
    """The time at which the access token ends, in seconds since 1970."""
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    """The description of the authorization server."""
    resource: dict[str, Any] | None = None
    """The description of the protected server."""


_stored = msgspec.json.Decoder(StoredSignIn)


class TokenStore:
    """Reads and writes what is stored for one URL."""

    def __init__(self, url: str, folder: Path | None = None) -> None:
        self._name = sha256(url.encode()).hexdigest()[:32]
        self._folder = folder or config_home() / "mcp-tokens"

    def read(self) -> StoredSignIn:
        for text in (self._read_keyring(), self._read_file()):
            if text:
                with suppress(msgspec.DecodeError):
                    return _stored.decode(text)
        return StoredSignIn()

    def write(self, stored: StoredSignIn) -> None:
        content = msgspec.json.encode(stored)
        if not self._write_keyring(content.decode()):
            write_private_file(self._path, content, "Tokens")

    def delete(self) -> bool:
        """Delete what is stored; whether there was something."""
        is_stored = bool(self._read_keyring())
        with suppress(Exception):
            _keyring().delete_password(SERVICE, self._name)
        if self._path.exists():
            self._path.unlink()
            is_stored = True
        return is_stored

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._name}.json"

    def _read_file(self) -> str:
        try:
            return self._path.read_text()
        except (OSError, UnicodeDecodeError):
            return ""

    def _read_keyring(self) -> str:
        try:
            return _keyring().get_password(SERVICE, self._name) or ""
        except Exception:  # a keyring has exceptions of its own, and those of the bus behind it
            return ""

    def _write_keyring(self, text: str) -> bool:
        try:
            _keyring().set_password(SERVICE, self._name, text)
            return _keyring().get_password(SERVICE, self._name) == text
        except Exception:
            return False


def _keyring() -> Any:
    if find_spec("keyring") is None:
        raise ConfigurationError("The package keyring is not installed.")
    return import_module("keyring")
