"""Ed25519 keys that sign exported sessions. They need the extra `sign`."""

import os
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "signing.key"
"""The name of a machine's key in its data folder."""
_HEX = frozenset("0123456789abcdef")
_MAX_FILE = 64 * 1024


class SigningKey:
    """A private key. It signs, and makes the salts of what it signs.

    A salt depends on the key, the session, the place and the data, so that a second export has the same salts and
    continues the chain of the first. Nobody without the key can compute one.
    """

    def __init__(self, private: "Ed25519PrivateKey") -> None:
        self._private = private
        self.public = private.public_key().public_bytes_raw().hex()
        seed = private.private_bytes_raw()
        self._salts = blake2b(b"salts", key=seed, digest_size=32, person=b"heald key").digest()

    def sign(self, data: bytes) -> bytes:
        return self._private.sign(data)

    def salt(self, session: str, place: str, data: bytes) -> str:
        """Return the salt of the data at a place of a session: 128 bits, as hexadecimal digits."""
        hashed = blake2b(f"{session}/{place}/".encode(), key=self._salts, digest_size=16)
        hashed.update(data)
        return hashed.hexdigest()


def read_or_create_key(path: Path) -> SigningKey:
    """Read the private key of a file. A file that does not exist is created with a new key."""
    _require_cryptography()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.exists():
        _create(path, _pem(Ed25519PrivateKey.generate()))
    return read_key(path)


def read_key(path: Path) -> SigningKey:
    """Read the private key of a file, as `openssl genpkey -algorithm ed25519` writes one."""
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(_read(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise ConfigurationError(
            f"{path} is not a private Ed25519 key without a password; `openssl genpkey -algorithm ed25519` makes one."
        )
    return SigningKey(private)


def read_public_key(name: str) -> str:
    """Return the 64 digits of a public key that is named by them, or by a file with the public or private key."""
    if is_public_key(name):
        return name
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    data = _read(Path(name))
    if b"PRIVATE KEY" in data:
        return read_key(Path(name)).public
    try:
        public = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise ConfigurationError(f"{name} is not an Ed25519 key; name its 64 digits, or a PEM file.")
    return public.public_bytes_raw().hex()


def is_public_key(text: str) -> bool:
    return len(text) == 64 and _HEX.issuperset(text)


def is_signed(public: str, signature: bytes, data: bytes) -> bool:
    """Whether a signature of the data was made with the private key of a public one."""
    _require_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _require_cryptography() -> None:
    try:
        import cryptography  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        raise ConfigurationError(f"Signatures need the package cryptography; run {install_advice('sign')}.") from None


def _pem(private: "Ed25519PrivateKey") -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE)
    except OSError as error:
        raise ConfigurationError(f"The key {path} cannot be read: {error.strerror}.") from None


def _create(path: Path, content: bytes) -> None:
    """Create a file that only its owner can read: whole, and never in place of one that another process has made."""
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")  # mkstemp: mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.link(part, path)
        finally:
            os.unlink(part)
    except FileExistsError:
        return  # its key is read
    except OSError as error:
        raise ConfigurationError(f"The key {path} cannot be created: {error.strerror}.") from None
