"""Stores keys in a file that only its owner may read: for servers and containers, which have no keyring.

With a secret in `HEALD_KEYS_SECRET` each key is encrypted: AES-256-GCM, with a key that scrypt derives from the secret
and a salt. The names stay readable, so that a server can list the keys that it has without the secret.
"""

import os
import stat
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from heald.config.paths import config_home, display_path, write_private_file
from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SECRET_VARIABLE = "HEALD_KEYS_SECRET"
"""The variable with the secret that encrypts the keys."""
_SALT = 16
_NONCE = 12
_SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 2**26, "dklen": 32}


class _KeyFile(msgspec.Struct, frozen=True, omit_defaults=True):
    plain: dict[str, str] = {}
    encrypted: dict[str, str] = {}
    """Salt, nonce and ciphertext of each key, in base64."""

    def without(self, name: str) -> "_KeyFile":
        plain = {stored: key for stored, key in self.plain.items() if stored != name}
        return _KeyFile(plain, {stored: text for stored, text in self.encrypted.items() if stored != name})


_key_files = msgspec.json.Decoder(_KeyFile)


def key_file_path() -> Path:
    return config_home() / "credentials.json"


def encrypts_keys() -> bool:
    """Whether a secret is set, so that a key that is stored now is encrypted."""
    return bool(os.environ.get(SECRET_VARIABLE))


def file_key_names() -> tuple[str, ...]:
    """Return the names of the keys in the file; none if it cannot be read."""
    try:
        stored = _read_file()
    except ConfigurationError:
        return ()
    return (*stored.plain, *stored.encrypted)


def write_file_key(name: str, key: str) -> None:
    """Store a key. If a secret is set, keys that were stored without one are encrypted too."""
    stored = _read_file().without(name)
    plain = {**stored.plain, name: key}
    if not encrypts_keys():
        _write_file(_KeyFile(plain, stored.encrypted))
        return
    encrypted = {stored_name: _encrypt(stored_name, text) for stored_name, text in plain.items()}
    _write_file(_KeyFile({}, {**stored.encrypted, **encrypted}))


def read_file_key(name: str) -> str | None:
    """Read a key, or None if the file does not have it. Raises ConfigurationError if it cannot be decrypted."""
    stored = _read_file()
    if name in stored.encrypted:
        return _decrypt(name, stored.encrypted[name])
    return stored.plain.get(name)


def delete_file_key(name: str) -> bool:
    """Delete a key; whether there was one."""
    stored = _read_file()
    if name not in stored.plain and name not in stored.encrypted:
        return False
    _write_file(stored.without(name))
    return True


def _read_file() -> _KeyFile:
    path = key_file_path()
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read()
    except FileNotFoundError:
        return _KeyFile()
    except OSError as error:
        raise ConfigurationError(f"The keys in {display_path(path)} cannot be read: {error.strerror}.") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigurationError(f"Other users may read the keys in {display_path(path)}; run `chmod 600` on it.")
    try:
        return _key_files.decode(content)
    except msgspec.DecodeError:
        raise ConfigurationError(
            f"{display_path(path)} is not a valid file of keys; delete it, and store the keys again."
        ) from None


def _write_file(stored: _KeyFile) -> None:
    write_private_file(key_file_path(), msgspec.json.format(msgspec.json.encode(stored)), "Keys")


def _encrypt(name: str, key: str) -> str:
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    return b64encode(salt + nonce + _cipher(salt).encrypt(nonce, key.encode(), name.encode())).decode()


def _decrypt(name: str, text: str) -> str:
    if not encrypts_keys():
        raise ConfigurationError(f"{name} is stored encrypted; set {SECRET_VARIABLE} to the secret that encrypted it.")
    try:
        content = b64decode(text, validate=True)
        salt, nonce, sealed = content[:_SALT], content[_SALT : _SALT + _NONCE], content[_SALT + _NONCE :]
        return _cipher(salt).decrypt(nonce, sealed, name.encode()).decode()
    except ConfigurationError:
        raise
    except Exception:  # InvalidTag of a package that is imported only here, or a damaged text
        raise ConfigurationError(
            f"{name} cannot be decrypted with the secret in {SECRET_VARIABLE}; set the secret that encrypted it, "
            "or store the key again."
        ) from None


def _cipher(salt: bytes) -> "AESGCM":
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ConfigurationError(
            f"{SECRET_VARIABLE} is set, and encrypting keys needs a package: {install_advice('sign')}."
        ) from None
    from hashlib import scrypt

    return AESGCM(scrypt(os.environ[SECRET_VARIABLE].encode(), salt=salt, **_SCRYPT))
