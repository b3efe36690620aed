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

SHARED = "share."
"""Begins the ticket of a preview that is the secret of a link."""
_KEY_BYTES = 32
_MAC_BYTES = 16


class PreviewTarget(msgspec.Struct, frozen=True, array_like=True):
    """The content of a ticket: a variant, and a keyed digest of the caller that it was issued to."""

    caller: str
    project: str
    version: str
    variant: int


class PreviewTickets:
    """Issues and verifies tickets: unguessable path segments that address the preview of one variant.

    A preview has no token and no cookie, so its address is its permission. A ticket expires with the token that it was
    issued for. The page that it shows can read it, so it contains no token and no owner. All nodes of a store have the
    same key, so each one verifies the tickets of the others.
    """

    def __init__(self, tokens: AccessTokens, store: SharedStore) -> None:
        self._tokens = tokens
        self._store = store
        self._key = secrets.token_bytes(_KEY_BYTES)

    async def load_key(self) -> None:
        """Read the key that all nodes of the store share; store this one if there is none."""
        self._key = await self._store.put_record("secret", "previews", self._key, only_new=True)

    def address(self, caller: Caller, project: str, variant: VariantRef) -> str:
        """The path of a preview, as the caller's browser sees it."""
        if caller.token_id is not None and not caller.is_guest:
            digest = self._digest(b"holder" + caller.token_id)
        else:
            digest = self._digest(b"owner" + caller.owner.encode())  # it has no token of this server
        content = encode(PreviewTarget(digest, project, variant.version, variant.variant))
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
        digest = target.caller
        for token_id in self._tokens.ids():
            owner = self._tokens.owner_of(token_id)
            if owner is not None and hmac.compare_digest(self._digest(b"holder" + token_id), digest):
                return owner
        owner = await self._find_owner(target.project)
        if owner is None or not hmac.compare_digest(self._digest(b"owner" + owner.encode()), digest):
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
