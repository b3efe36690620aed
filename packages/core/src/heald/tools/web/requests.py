"""Opens web requests and reads their bodies, bounded."""

import ssl
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

from heald.http1 import pool
from heald.http1.connection import HttpReply
from heald.http1.content_coding import InflatedReader, parse_content_coding
from heald.http1.errors import (
    CompressionBroken,
    ConnectionBroken,
    NotHttp,
    NoTls,
    TlsRefused,
    Unreachable,
    UntrustedCertificate,
)
from heald.http1.request import Origin
from heald.http1.request import RequestTarget as Request
from heald.http1.tls import tls_context
from heald.tools.tool_fault import ToolFault
from heald.tools.web.urls import (
    Address,
    WebTarget,
)


async def read_body(reply: HttpReply, limit: int) -> bytes:
    """Return the decoded body. Raises ToolFault as soon as it exceeds the limit, before or after decompression."""
    arrived = 0

    async def read_packed() -> bytes:
        nonlocal arrived
        piece = await reply.read()
        arrived += len(piece)
        if arrived > limit:
            raise too_large(limit)
        return piece

    encoding = reply.headers.get("content-encoding", "")
    try:
        coding = parse_content_coding(encoding)
    except NotHttp:
        raise ToolFault(
            f"The answer is compressed as {encoding[:40]!r}, which was not asked for.", "unreadable"
        ) from None
    read = read_packed if coding is None else InflatedReader(coding, read_packed, reply.at_end).read
    body = bytearray()
    try:
        while piece := await read():
            body += piece
            if len(body) > limit:
                raise too_large(limit)
    except CompressionBroken:
        raise ToolFault("The compressed body of the answer cannot be read.", "unreadable") from None
    return bytes(body)


def too_large(limit: int) -> ToolFault:
    return ToolFault(f"The answer is larger than {limit:,} bytes, the most that is fetched.", "too_large")


_HEADERS = {
    "Accept": "text/html, application/json, text/*, image/*, */*;q=0.1",
    "Accept-Encoding": "gzip, deflate",
    "User-Agent": "heald",
}


def open_request(
    target: WebTarget, addresses: Sequence[Address], tls: ssl.SSLContext | None, seconds: float
) -> AbstractAsyncContextManager[HttpReply]:
    """Send a GET to one of these addresses, with the target's host name for TLS and the Host header."""
    if not addresses:
        raise Unreachable("no address was checked")  # otherwise the pool would resolve the name itself
    tls = (tls or tls_context()) if target.scheme == "https" else None
    origin = Origin(target.scheme, target.host, target.port, addresses=tuple(map(str, addresses)))
    return pool.get_once(Request(origin, target.path), _HEADERS, tls=tls, connect_timeout=seconds)


def announced_length(reply: HttpReply) -> int:
    """Return the Content-Length, or 0."""
    length = reply.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def describe_failure(error: Exception) -> str:
    """Describe a failed request without internal details."""
    match error:
        case UntrustedCertificate():
            return "its certificate is not valid for that name"
        case TlsRefused():
            return "it refused the secure connection"
        case NoTls():
            return "no secure connection could be made"
        case Unreachable():
            return "no connection could be made"
        case ConnectionBroken():
            return "the connection broke off"
        case _:
            return "it did not answer as a web server does"
