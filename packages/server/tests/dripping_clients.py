"""Clients without a token that hold connections: each sends a byte now and then, and connects again when it is closed.

A program of its own: it takes a port, a number of clients and seconds, and prints how many connections it opened.
"""

import asyncio
import random
import sys
import time
from contextlib import suppress


async def main(port: int, count: int, seconds: float) -> None:
    host = f"Host: 127.0.0.1:{port}\r\n".encode()
    body = b"Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
    beginnings = (
        b"POST /login HTTP/1.1\r\n" + host + body,
        b"GET /health HTTP/1.1\r\n" + host + b"X-Slow: ",
        b"POST /sessions HTTP/1.1\r\nHost: elsewhere\r\n" + body,
        b"GET /health HTTP/1.1\r\n" + host + b"\r\nGET /health HTTP/1.1\r\n" + host + b"X-Second: ",
    )
    stop = time.monotonic() + seconds
    opened = 0

    async def drip(beginning: bytes) -> None:
        nonlocal opened
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        opened += 1
        writer.write(beginning)
        while time.monotonic() < stop:
            writer.write(b"x")
            await writer.drain()
            try:
                async with asyncio.timeout(random.uniform(1, 3)):
                    while await reader.read(4096):
                        pass
                    break
            except TimeoutError:
                pass
        writer.close()

    async def repeat(beginning: bytes) -> None:
        while time.monotonic() < stop:
            with suppress(OSError):
                await drip(beginning)
            await asyncio.sleep(random.uniform(1, 3))

    await asyncio.gather(*(repeat(beginnings[number % len(beginnings)]) for number in range(count)))
    print(opened)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
