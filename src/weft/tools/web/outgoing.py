"""Requests to the web on behalf of a model: nothing that is private is ever dialled.

A URL is read once, its name resolved once, every address checked, and only a checked address dialled, so that a name
that changes its answer gains nothing. TLS still verifies the name. Every redirect goes through the same. Time, bytes
and redirects are limited; no cookies, credentials or proxies of the environment are used.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Sequence

import msgspec

from weft.http1.faults import Fault
from weft.http1.reply import Reply
from weft.tools.outcome import ToolFault
from weft.tools.web.addresses import Address, is_public, parse_address
from weft.tools.web.body import read_body, too_large
from weft.tools.web.dial import announced, get, pieces, why_not
from weft.tools.web.target import Target, follow, not_allowed, parse_target

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host name."""

_REDIRECTS = (301, 302, 303, 307, 308)
_MAX_ADDRESSES = 16


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, decompressed. `url` is where it came from after all redirects."""

    url: str
    status: int
    content_type: str
    """As the server says it, parameters included; empty if it does not."""
    body: bytes


class Outgoing:
    """Fetches URLs within the rules.

    `allow` names hosts that an operator permits although they are private, as `host:port` or `host` for every port.
    """

    def __init__(
        self,
        *,
        allow: Collection[str] = (),
        max_bytes: int = 5_000_000,
        seconds: float = 20.0,
        max_redirects: int = 5,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = frozenset(name.lower() for name in allow)
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._max_redirects = max_redirects
        self._resolve = resolve or _resolve
        self._tls = tls

    async def fetch(self, url: str) -> Fetched:
        """The answer to a GET, redirects followed. A ToolFault says why there is none."""
        target = parse_target(url)
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(self._max_redirects + 1):
                    answer = await self._get(target)
                    if isinstance(answer, Fetched):
                        return answer
                    target = answer
        except TimeoutError:
            raise ToolFault(f"{target.host} did not answer within {self._seconds:g} s.", "timeout") from None
        raise ToolFault(
            f"The URL redirects more than {self._max_redirects} times; give the address it ends at.", "redirects"
        )

    async def _get(self, target: Target) -> Fetched | Target:
        """One request: an answer, or the target that it redirects to."""
        addresses = await self.checked(target)
        try:
            async with get(target, addresses, self._tls, self._seconds) as reply:
                location = reply.headers.get("location")
                if reply.status in _REDIRECTS and location:
                    return follow(target, location)
                return await self._read(target, reply)
        except (Fault, OSError, ValueError) as error:
            raise ToolFault(f"{target.host} could not be fetched: {why_not(error)}.", "unreachable") from None

    async def _read(self, target: Target, reply: Reply) -> Fetched:
        if announced(reply) > self._max_bytes:
            raise too_large(self._max_bytes)
        body = await read_body(pieces(reply), reply.headers.get("content-encoding", ""), self._max_bytes)
        return Fetched(
            url=target.url, status=reply.status, content_type=reply.headers.get("content-type", ""), body=body
        )

    async def checked(self, target: Target) -> list[Address]:
        """The addresses of a target, all of them ones that may be dialled. A ToolFault says why it may not be."""
        literal = target.address
        if literal is not None:
            found = [literal]
        else:
            try:
                texts = await self._resolve(target.host, target.port)
            except (OSError, UnicodeError):
                texts = ()
            parsed = [parse_address(text) for text in texts]
            found = [address for address in parsed if address is not None]
            if not found or len(found) < len(parsed):
                raise ToolFault(f"The host {target.host} is not known; check its spelling.", "unknown_host")
        if {target.authority, target.authority.rpartition(":")[0]} & self._allow:
            return found[:_MAX_ADDRESSES]
        if not all(map(is_public, found)):
            raise not_allowed(
                f"{target.host} is not on the public internet and may not be fetched; "
                "an operator can allow it by name if it should be."
            )
        return found[:_MAX_ADDRESSES]


async def _resolve(host: str, port: int) -> Sequence[str]:
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
