"""Tickets: addresses of previews that nobody can guess. A preview has no token and no cookie, so its address is one.

A ticket is good for one variant, for as long as the token that it was given to, and no longer than the process. The
page that it shows can read it, so it holds nothing that would let anybody in: the token is named by a keyed digest.
"""

import base64
import binascii
import hmac
import secrets

import msgspec

from weft.core.json import encode
from weft.server.refusal import Refusal
from weft.server.tokens import Tokens
from weft.studio.projects.project import Base

_MAC = 16


class Place(msgspec.Struct, frozen=True, array_like=True):
    """What a ticket is for."""

    holder: str
    project: str
    version: str
    variant: int


class Tickets:
    """Gives tickets, and knows them again."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._key = secrets.token_bytes(32)

    def address(self, holder: bytes | None, project: str, base: Base) -> str:
        place = Place(self._name(holder) if holder is not None else "", project, base.version, base.variant)
        said = encode(place)
        mac = hmac.digest(self._key, said, "sha256")[:_MAC]
        return f"/preview/{base64.urlsafe_b64encode(mac + said).decode().rstrip('=')}/"

    def read(self, ticket: str) -> tuple[str, Place]:
        """The owner and the place that a ticket is for."""
        try:
            raw = base64.urlsafe_b64decode(ticket + "=" * (-len(ticket) % 4))
        except (binascii.Error, ValueError):
            raise _unknown() from None
        mac, said = raw[:_MAC], raw[_MAC:]
        if not hmac.compare_digest(mac, hmac.digest(self._key, said, "sha256")[:_MAC]):
            raise _unknown()
        place = msgspec.json.decode(said, type=Place)
        return self._owner(place.holder), place

    def _owner(self, name: str) -> str:
        if not name:
            return ""
        for holder in self._tokens.holders():
            owner = self._tokens.owner(holder)
            if owner is not None and hmac.compare_digest(self._name(holder), name):
                return owner
        raise _unknown()

    def _name(self, holder: bytes) -> str:
        return hmac.digest(self._key, b"holder" + holder, "sha256")[:_MAC].hex()


def _unknown() -> Refusal:
    return Refusal("not_found", "This preview is not there any more; open it from the project again.")
