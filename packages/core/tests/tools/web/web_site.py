"""A local web site for the tests, and a sink that counts who connects to it."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def page(
    body: bytes | str, content_type: str = "text/html; charset=utf-8", status: str = "200 OK", more: str = ""
) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n{more}\r\n"
    return head.encode() + data


def redirect(location: str, status: str = "302 Found") -> bytes:
    return page("moved", status=status, more=f"Location: {location}\r\n")


def bomb(size: int) -> bytes:
    return page(gzip.compress(b"\0" * size, 9), "text/plain", more="Content-Encoding: gzip\r\n")


class Site(NamedTuple):
    port: int
    connections: list[str]
    """One entry for each connection: the request line."""
    heads: list[str]

    @property
    def at(self) -> str:
        return f"127.0.0.1:{self.port}"


@asynccontextmanager
async def site(pages: dict[str, Reply] | None = None, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Site]:
    connections: list[str] = []
    heads: list[str] = []
    tasks: set[asyncio.Task[object] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        connections.append("")
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            connections[-1] = head.partition("\r\n")[0]
            heads.append(head)
            reply = (pages or {}).get(head.split(" ")[1], page("not here", status="404 Not Found"))
            if isinstance(reply, bytes):
                writer.write(reply)
                await writer.drain()
            else:
                await reply(writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield Site(server.sockets[0].getsockname()[1], connections, heads)
    finally:
        server.close()
        for task in tasks:
            if task is not None:
                task.cancel()
        await asyncio.sleep(0.01)
