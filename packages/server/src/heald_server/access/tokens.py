"""Access tokens: stored as digests, compared in constant time, revoked immediately.

A server knows the tokens of its options, those in its store, which all servers of the store share, and signed tokens
(JWT) of an identity provider. A change in the store reaches every server.
"""

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from time import time
from typing import NamedTuple

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.json import encode
from heald.sessions.shared_store import SharedStore

MIN_LENGTH = 16
TOKENS = "token"
"""The kind of the store's records that hold tokens, each named by its digest."""


class SignedToken(NamedTuple):
    """The content of a valid signed token."""

    owner: str
    expires: float
    key: str = ""
    """The name of the key that it is signed with, if it has one."""


Verify = Callable[[str], Awaitable[SignedToken | None]]
"""Returns the content of a signed token, or None if it is not valid."""
HasKey = Callable[[str], Awaitable[bool]]
"""Returns whether the provider still has a key of this name."""


class StoredToken(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A token in the store."""

    owner: str = ""
    label: str = ""
    created: float = 0.0
    expires: float | None = None
    revoked: bool = False
    key: str = ""
    """The name of the key that a signed token is signed with."""

    def is_valid(self, now: float) -> bool:
        return not self.revoked and (self.expires is None or now < self.expires)


_decoder = msgspec.json.Decoder(StoredToken)


def new_token() -> str:
    """Return a new random access token."""
    return secrets.token_urlsafe(32)


def token_digest(token: str) -> bytes:
    """Return the id of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).digest()


class AccessTokens:
    """The tokens of a server and their owners. A token gives access to its owner's sessions and to no others.

    Inside the server a token is named by its digest, the token id. `digests` are the owners of tokens of which only the
    digest is known; `verify` accepts signed tokens besides, which end when `has_key` no longer knows their key.
    """

    def __init__(
        self,
        owners: Mapping[str, str],
        *,
        digests: Mapping[bytes, str] | None = None,
        verify: Verify | None = None,
        has_key: HasKey | None = None,
    ) -> None:
        for token in owners:
            if len(token) < MIN_LENGTH:
                raise ConfigurationError(f"A token has at least {MIN_LENGTH} characters; omit it to generate one.")
        owners_by_id = {token_digest(token): owner for token, owner in owners.items()} | dict(digests or {})
        self._owners = {token_id: StoredToken(owner=owner) for token_id, owner in owners_by_id.items()}
        self._stored: dict[bytes, StoredToken] = {}
        self._signed: dict[bytes, StoredToken] = {}
        self._verify = verify
        self._has_key = has_key
        self._store: SharedStore | None = None
        self._watchers: dict[bytes, dict[int, Callable[[], object]]] = {}
        self._watcher_count = 0
        self._changing = asyncio.Lock()  # a reload in the middle of a change would bring back what is being revoked

    # --- the tokens of the store -------------------------------------------------------------------------------------

    async def attach(self, store: SharedStore) -> None:
        """Read the tokens of a store, and store the changes that are made here."""
        self._store = store
        await self.reload()

    async def reload(self) -> None:
        """Read the tokens of the store once more. Streams of those that were revoked, or whose key was withdrawn,
        end."""
        if self._store is None:
            await self._end_withdrawn()
            return
        async with self._changing:
            records = await self._store.read_records(TOKENS)
            self._stored = {bytes.fromhex(name): _decoder.decode(data) for name, data in records.items()}
        await self._end_withdrawn()
        for token_id in list(self._watchers):
            if self.owner_of(token_id) is None:
                self._end(token_id)

    async def _end_withdrawn(self) -> None:
        """Revoke the signed tokens whose key the provider has withdrawn."""
        if self._has_key is None:
            return
        now = time()
        keys = {token.key for token in self._all().values() if token.key and token.is_valid(now)}
        withdrawn = {key for key in keys if not await self._has_key(key)}
        for token_id, token in list(self._all().items()):
            if token.key not in withdrawn:
                continue
            self._signed.pop(token_id, None)
            if token_id not in self._stored:
                self._end(token_id)
            elif token.is_valid(now):
                await self.revoke(token_id)

    # --- looking tokens up -------------------------------------------------------------------------------------------

    def identify(self, token: str) -> bytes | None:
        """Return the id of a token, or None if it is unknown."""
        return self._find(token_digest(token), bytes)

    async def identify_signed(self, token: str) -> bytes | None:
        """Return the id of a token, which may be a signed one. Raises nothing for one that is not valid."""
        token_id = self.identify(token)
        if token_id is not None or self._verify is None or token.count(".") != 2:
            return token_id
        signed = await self._verify(token)
        if signed is None:
            return None
        token_id = token_digest(token)
        self._signed[token_id] = StoredToken(owner=signed.owner, expires=signed.expires, key=signed.key)
        delay = max(signed.expires - time(), 0.0)
        asyncio.get_running_loop().call_later(min(delay, _LONGEST_TIMER), self._expire, token_id)
        return token_id

    async def share_signed(self, token_id: bytes) -> None:
        """Store a signed token, so that a cookie of it is known to every server until the token expires."""
        signed = self._signed.get(token_id)
        if signed is not None and self._store is not None and not self._stored.get(token_id, signed).revoked:
            async with self._changing:
                self._stored[token_id] = signed  # so that a withdrawn key revokes it, not only forgets it here
                await self._store.put_record(TOKENS, token_id.hex(), encode(signed))

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
        now = time()
        return [token_id for token_id in self._all() if self._token(token_id).is_valid(now)]

    def owner_of(self, token_id: bytes) -> str | None:
        """Return the owner of a token, or None if it was revoked."""
        token = self._token(token_id)
        return token.owner if token.is_valid(time()) else None

    # --- changing them -----------------------------------------------------------------------------------------------

    async def rotate(self, token_id: bytes) -> str:
        """Replace a token by a new one of the same owner. The old one is revoked and its streams end."""
        token = new_token()
        fresh = StoredToken(owner=self._token(token_id).owner, created=time())
        await self._replace(token_id, {token_digest(token): fresh})
        return token

    async def revoke(self, token_id: bytes) -> None:
        """Revoke a token, on every server of the store. Its streams end."""
        await self._replace(token_id, {})

    async def _replace(self, token_id: bytes, added: Mapping[bytes, StoredToken]) -> None:
        changes = {**added, token_id: msgspec.structs.replace(self._token(token_id), revoked=True)}
        async with self._changing:
            self._stored |= changes
            self._end(token_id)
            if self._store is not None:
                for changed, stored in changes.items():
                    await self._store.put_record(TOKENS, changed.hex(), encode(stored))

    def on_revoked(self, token_id: bytes, callback: Callable[[], object]) -> Callable[[], object]:
        """Call back when the token is revoked or expires, immediately if it already did. Returns a function that
        unsubscribes."""
        if self.owner_of(token_id) is None:
            callback()
            return lambda: None
        self._wait_for_expiry(token_id)
        self._watcher_count += 1
        number = self._watcher_count
        watchers = self._watchers.setdefault(token_id, {})
        watchers[number] = callback
        return lambda: watchers.pop(number, None)

    def _end(self, token_id: bytes) -> None:
        for callback in list(self._watchers.pop(token_id, {}).values()):
            callback()

    def _wait_for_expiry(self, token_id: bytes) -> None:
        """End the streams of a token of the store when it expires. Signed tokens have a timer of their own."""
        expires = self._token(token_id).expires
        if expires is None or token_id in self._watchers or token_id in self._signed:
            return
        delay = min(max(expires - time(), 0.0) + _AFTER_EXPIRY, _LONGEST_TIMER)
        asyncio.get_running_loop().call_later(delay, self._end_if_expired, token_id)

    def _end_if_expired(self, token_id: bytes) -> None:
        if self.owner_of(token_id) is None:
            self._end(token_id)
        elif watchers := self._watchers.pop(token_id, None):
            self._wait_for_expiry(token_id)
            self._watchers[token_id] = watchers

    def _expire(self, token_id: bytes) -> None:
        signed = self._signed.get(token_id)
        if signed is None or signed.is_valid(time()):
            return
        del self._signed[token_id]
        self._end(token_id)

    def _all(self) -> Mapping[bytes, StoredToken]:
        return self._owners | self._signed | self._stored

    def _token(self, token_id: bytes) -> StoredToken:
        """Return a token. What the store has of it counts, then the signed ones, then those of the options."""
        for tokens in (self._stored, self._signed, self._owners):
            if token_id in tokens:
                return tokens[token_id]
        return StoredToken(revoked=True)

    def _find(self, digest: bytes, digest_of: Callable[[bytes], bytes]) -> bytes | None:
        match: bytes | None = None
        now = time()
        for token_id in self._all():  # compares all of them, so that the duration reveals nothing
            if hmac.compare_digest(digest_of(token_id), digest) and self._token(token_id).is_valid(now):
                match = token_id
        return match


_AFTER_EXPIRY = 0.05  # the clock of timers and that of tokens differ by a little
_LONGEST_TIMER = 24 * 3600.0  # an event loop has no longer ones; a token that lives longer ends at its next use


def _cookie_digest(token_id: bytes) -> bytes:
    return hmac.digest(token_id, b"heald page", "sha256")
