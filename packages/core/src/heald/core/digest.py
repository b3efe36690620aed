"""SHA-256. The module `hashlib` is loaded with the first digest: a command that sends one request needs none."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash  # pyright: ignore[reportPrivateUsage]


def sha256(data: bytes = b"") -> "_Hash":
    """Return the hash object of the data so far, as `hashlib.sha256` does."""
    from hashlib import sha256

    return sha256(data)
