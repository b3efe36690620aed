"""Sends web requests on behalf of a model. It connects to private addresses only where an operator allows their host.

A URL is parsed once, its host resolved once and every address checked. Connections use a checked address, so that DNS
rebinding has no effect. TLS verifies the host name. Redirects go through the same checks. Time, bytes (before and after
decompression) and redirects are limited. Cookies, credentials and proxies of the environment are not used.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import msgspec

from heald.http1.connection import HttpReply
from heald.http1.errors import (
    NetworkError,
)
from heald.tools.tool_fault import ToolFault
from heald.tools.web.requests import announced_length, describe_failure, open_request, read_body, too_large
from heald.tools.web.urls import (
    Address,
    WebTarget,
    follow,
    is_public,
    not_allowed,
    parse_address,
    parse_target,
)

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name and port."""
_REDIRECTS = (301, 302, 303, 307, 308)
_MAX_REDIRECTS = 5
_MAX_ADDRESSES = 16
_allowed_hosts: ContextVar[frozenset[str]] = ContextVar("heald_allowed_hosts", default=frozenset())


@contextmanager
def allow_hosts(names: Collection[str]) -> Generator[None]:
    """Allow private hosts, as `parse_host` returns them, to every `WebFetcher` while the block runs."""
    token = _allowed_hosts.set(_allowed_hosts.get() | set(names))
    try:
        yield
    finally:
        _allowed_hosts.reset(token)


def operator_hosts() -> frozenset[str]:
    """Return the hosts that the operator allows here, as `parse_host` returns them."""
    return _allowed_hosts.get()


class FetchedResponse(msgspec.Struct, frozen=True, kw_only=True):
    """A decompressed response. `url` is the final URL after all redirects."""

    url: str
    status: int
    content_type: str
    """The Content-Type header with its parameters; empty if missing."""
    body: bytes


class WebFetcher:
    """Fetches URLs from public addresses, within limits.

    `allow` lists private hosts that an operator permits, as `host:port`, or `host` for every port, besides those of
    `allow_hosts`.
    """

    def __init__(
        self,
        *,
        allow: Collection[str] = (),
        max_bytes: int = 5_000_000,
        seconds: float = 20.0,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allow = frozenset(name.lower() for name in allow)
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._resolve = resolve or _resolve
        self._tls = tls

    async def fetch(self, url: str) -> FetchedResponse:
        """Send a GET and follow redirects. Raises ToolFault if that fails."""
        target = parse_target(url)
        try:
            async with asyncio.timeout(self._seconds):
                for _ in range(_MAX_REDIRECTS + 1):
                    answer = await self._get(target)
                    if isinstance(answer, FetchedResponse):
                        return answer
                    target = answer
        except TimeoutError:
            raise ToolFault(f"{target.host} did not answer within {self._seconds:g} s.", "timeout") from None
        raise ToolFault(
            f"The URL redirects more than {_MAX_REDIRECTS} times; give the address it ends at.", "redirects"
        )

    async def _get(self, target: WebTarget) -> FetchedResponse | WebTarget:
        """Send one request. Return the response, or the target of its redirect."""
        addresses = await self.checked_addresses(target)
        try:
            async with open_request(target, addresses, self._tls, self._seconds) as reply:
                location = reply.headers.get("location")
                if reply.status in _REDIRECTS and location:
                    return follow(target, location)
                return await self._read(target, reply)
        except (NetworkError, OSError, ValueError) as error:
            raise ToolFault(f"{target.host} could not be fetched: {describe_failure(error)}.", "unreachable") from None

    async def _read(self, target: WebTarget, reply: HttpReply) -> FetchedResponse:
        if announced_length(reply) > self._max_bytes:
            raise too_large(self._max_bytes)
        body = await read_body(reply, self._max_bytes)
        return FetchedResponse(
            url=target.url, status=reply.status, content_type=reply.headers.get("content-type", ""), body=body
        )

    async def checked_addresses(self, target: WebTarget) -> list[Address]:
        """Return the addresses of a target. Raises ToolFault if there are none or if one is not allowed."""
        literal = target.address
        if literal is not None:
            addresses = [literal]
        else:
            try:
                texts = await self._resolve(target.host, target.port)
            except (OSError, UnicodeError):
                texts = ()
            parsed = [parse_address(text) for text in texts]
            addresses = [address for address in parsed if address is not None]
            if not addresses or len(addresses) < len(parsed):
                raise ToolFault(f"The host {target.host} is not known; check its spelling.", "unknown_host")
        if {target.authority, target.authority.rpartition(":")[0]} & (self._allow | _allowed_hosts.get()):
            return addresses[:_MAX_ADDRESSES]
        if not all(map(is_public, addresses)):
            raise not_allowed(
                f"{target.host} is not on the public internet and may not be fetched, unless Heald is started with "
                f"--allow-host {target.authority}."
            )
        return addresses[:_MAX_ADDRESSES]


async def _resolve(host: str, port: int) -> Sequence[str]:
    entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
