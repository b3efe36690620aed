"""Access tokens: stored as digests, compared in constant time, revoked immediately."""

import hmac
import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256

from weft.core.errors import ConfigurationError

MIN_LENGTH = 16


def new_token() -> str:
    return secrets.token_urlsafe(32)


class AccessTokens:
    """The tokens of a server and their owners. A token gives access to its owner's sessions and to no others.

    Inside the server a token is named by its digest, the token id.
    """

    def __init__(self, owners: Mapping[str, str]) -> None:
        for token in owners:
            if len(token) < MIN_LENGTH:
                raise ConfigurationError(f"A token has at least {MIN_LENGTH} characters; omit it to generate one.")
        self._owners = {_digest(token): owner for token, owner in owners.items()}
        self._watchers: dict[bytes, dict[int, Callable[[], object]]] = {}
        self._watcher_count = 0

    def identify(self, token: str) -> bytes | None:
        """Return the id of a token, or None if it is unknown."""
        return self._find(_digest(token), bytes)

    def identify_cookie(self, value: str) -> bytes | None:
        """Return the id of the token that a cookie value stands for, or None."""
        try:
            return self._find(bytes.fromhex(value), _cookie_digest)
        except ValueError:
            return None

    def cookie_value(self, token_id: bytes) -> str:
        """A cookie value that gives the same access as the token and does not reveal it."""
        return _cookie_digest(token_id).hex()

    def ids(self) -> list[bytes]:
        return list(self._owners)

    def owner_of(self, token_id: bytes) -> str | None:
        """Return the owner of a token, or None if it was revoked."""
        return self._owners.get(token_id)

    def rotate(self, token_id: bytes) -> str:
        """Replace a token by a new one of the same owner. The old one is revoked and its streams end."""
        token = new_token()
        self._owners[_digest(token)] = self._owners[token_id]
        self.revoke(token_id)
        return token

    def revoke(self, token_id: bytes) -> None:
        self._owners.pop(token_id, None)
        for callback in list(self._watchers.pop(token_id, {}).values()):
            callback()

    def on_revoked(self, token_id: bytes, callback: Callable[[], object]) -> Callable[[], object]:
        """Call back when the token is revoked, immediately if it already was. Returns a function that unsubscribes."""
        if token_id not in self._owners:
            callback()
            return lambda: None
        self._watcher_count += 1
        number = self._watcher_count
        watchers = self._watchers.setdefault(token_id, {})
        watchers[number] = callback
        return lambda: watchers.pop(number, None)

    def _find(self, wanted: bytes, digest_of: Callable[[bytes], bytes]) -> bytes | None:
        found: bytes | None = None
        for token_id in self._owners:  # compares all of them, so that the duration reveals nothing
            if hmac.compare_digest(digest_of(token_id), wanted):
                found = token_id
        return found


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _cookie_digest(token_id: bytes) -> bytes:
    return hmac.digest(token_id, b"weft page", "sha256")
