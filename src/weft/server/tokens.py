"""Tokens: who may come in, and as whom. Kept as digests, compared in constant time, revoked at once."""

import hmac
import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256

from weft.core.errors import ConfigurationError

MIN_LENGTH = 16

OnRevoked = Callable[[], object]


def new_token() -> str:
    return secrets.token_urlsafe(32)


class Tokens:
    """The tokens of a server, each with its owner. Whoever holds one sees the sessions of that owner and no others."""

    def __init__(self, owners: Mapping[str, str]) -> None:
        for token in owners:
            if len(token) < MIN_LENGTH:
                raise ConfigurationError(
                    f"A token has at least {MIN_LENGTH} characters; leave it out to get a good one."
                )
        self._owners = {_digest(token): owner for token, owner in owners.items()}
        self._watchers: dict[bytes, dict[int, OnRevoked]] = {}
        self._numbers = 0

    def holder(self, token: str) -> bytes | None:
        """Under what the token is known here; None for a stranger's."""
        return self._known(_digest(token))

    def holder_of_cookie(self, value: str) -> bytes | None:
        """The same for what `cookie_of` gave. It lets in as the token does and is not the token."""
        try:
            given = bytes.fromhex(value)
        except ValueError:
            return None
        found: bytes | None = None
        for known in self._owners:
            if hmac.compare_digest(_cookie(known), given):
                found = known
        return found

    def cookie_of(self, holder: bytes) -> str:
        return _cookie(holder).hex()

    def holders(self) -> list[bytes]:
        """All that let somebody in."""
        return list(self._owners)

    def owner(self, holder: bytes) -> str | None:
        """Whose it is; None once it was revoked."""
        return self._owners.get(holder)

    def rotate(self, holder: bytes) -> str:
        """A new token for the same owner. The old one lets nobody in from now on, and its streams end."""
        token = new_token()
        self._owners[_digest(token)] = self._owners[holder]
        self.revoke(holder)
        return token

    def revoke(self, holder: bytes) -> None:
        self._owners.pop(holder, None)
        for end in list(self._watchers.pop(holder, {}).values()):
            end()

    def watch(self, holder: bytes, end: OnRevoked) -> Callable[[], object]:
        """Call back when the token is revoked, at once if it was. Gives the way to stop watching."""
        if holder not in self._owners:
            end()
            return lambda: None
        self._numbers += 1
        number = self._numbers
        watchers = self._watchers.setdefault(holder, {})
        watchers[number] = end
        return lambda: watchers.pop(number, None)

    def _known(self, digest: bytes) -> bytes | None:
        found: bytes | None = None
        for known in self._owners:  # all of them: how long it takes says nothing
            if hmac.compare_digest(known, digest):
                found = known
        return found


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


def _cookie(holder: bytes) -> bytes:
    return hmac.digest(holder, b"weft page", "sha256")
