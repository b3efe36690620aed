"""One request on a connection of its own, which ends with the answer."""

import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from weft.http1.pool import Pool
from weft.http1.reply import Reply
from weft.http1.request import Target


@asynccontextmanager
async def get(
    target: Target, headers: Mapping[str, str], *, tls: ssl.SSLContext | None, connect_timeout: float
) -> AsyncGenerator[Reply]:
    """The answer to a GET as it begins. Nothing of it is left when the block ends."""
    pool = Pool()
    head = target.head_of("GET", headers, last=True)
    try:
        yield await pool.send(target.origin, head, b"", tls=tls, connect_timeout=connect_timeout)
    finally:
        await pool.close()
