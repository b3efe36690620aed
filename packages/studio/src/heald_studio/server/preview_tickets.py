"""Tickets of previews: secret addresses, each of one variant."""

import base64
import hmac
import secrets

import msgspec

from heald.core.json import encode
from heald.sessions.shared_store import SharedStore
from heald.sessions.store_errors import NoSuchSession
from heald_server.access.caller import Caller
from heald_server.access.tokens import AccessTokens
from heald_server.http.errors import ApiError
from heald_studio.projects.project import VariantRef
from heald_studio.server.protocol import PREVIEWS
from heald_studio.server.shares import ProjectShares

SHARED = "share."
"""Begins the ticket of a preview that is the secret of a link."""
_KEY_BYTES = 32
_MAC_BYTES = 16


class PreviewTarget(msgspec.Struct, frozen=True, array_like=True):
    """The content of a ticket: a variant, and keyed digests of the caller and of the link that it was issued for."""

    caller: str
    project: str
    version: str
    variant: int
    link: str = ""
    number: int = 1
    """Of the try of the variant."""


class PreviewTickets:
    """Issues and verifies tickets: unguessable path segments that address the preview of one variant.

    A preview has no token and no cookie, so its address is its permission. A ticket expires with the token that it was
    issued for, and with the link if the caller is a guest. The page that it shows can read it, so it contains no token,
    no link and no owner. All nodes of a store have the same key, so each one verifies the tickets of the others.
    """

    def __init__(self, tokens: AccessTokens, shares: ProjectShares, store: SharedStore) -> None:
        self._tokens = tokens
        self._shares = shares
        self._store = store
        self._key = secrets.token_bytes(_KEY_BYTES)

    async def load_key(self) -> None:
        """Read the key that all nodes of the store share; store this one if there is none."""
        self._key = await self._store.put_record("secret", "previews", self._key, only_new=True)

    def address(self, caller: Caller, project: str, variant: VariantRef, number: int = 1) -> str:
        """The path of the preview of a try of a variant, as the caller's browser sees it."""
        if caller.token_id is not None:
            digest = self._digest(b"holder" + caller.token_id)
        else:
            digest = self._digest(b"account" + caller.owner.encode())  # it has no token of this server
        link = self._digest(b"link" + caller.link.encode()) if caller.is_guest else ""
        content = encode(PreviewTarget(digest, project, variant.version, variant.variant, link, number))
        ticket = base64.urlsafe_b64encode(self._mac(content) + content).decode().rstrip("=")
        return f"{caller.root_path}{PREVIEWS}{ticket}/"

    async def read(self, ticket: str) -> tuple[str, PreviewTarget]:
        """The owner and the variant that a ticket was issued for."""
        try:
            raw = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        except ValueError:
            raise _unknown_ticket() from None
        mac, content = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        if not hmac.compare_digest(mac, self._mac(content)):
            raise _unknown_ticket()
        target = msgspec.json.decode(content, type=PreviewTarget)
        return await self._owner(target), target

    async def _owner(self, target: PreviewTarget) -> str:
        """Return as whose the preview is shown. Raises `not_found` if the token or the link is not valid any more."""
        owner = await self._caller_owner(target)
        if not target.link:
            return owner
        for name in self._shares.names(target.project):
            share = self._shares.get(name)
            if share is not None and hmac.compare_digest(self._digest(b"link" + name.encode()), target.link):
                return share.owner
        raise _unknown_ticket()

    async def _caller_owner(self, target: PreviewTarget) -> str:
        digest = target.caller
        for token_id in self._tokens.ids():
            owner = self._tokens.owner_of(token_id)
            if owner is not None and hmac.compare_digest(self._digest(b"holder" + token_id), digest):
                return owner
        owner = await self._find_owner(target.project)
        if owner is None or not hmac.compare_digest(self._digest(b"account" + owner.encode()), digest):
            raise _unknown_ticket()
        return owner

    async def _find_owner(self, project: str) -> str | None:
        try:
            return (await self._store.info(project)).owner
        except NoSuchSession:
            return None

    def _mac(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, "sha256")[:_MAC_BYTES]

    def _digest(self, name: bytes) -> str:
        return self._mac(name).hex()


def _unknown_ticket() -> ApiError:
    return ApiError("not_found", "This preview has expired; open it from the project again.")
