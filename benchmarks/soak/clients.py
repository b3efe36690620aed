"""The clients of the soak: conversations with readers that resume, and hostile ones without a token."""

import asyncio
import hashlib
import json
import random
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

import aiohttp

NETWORK = (aiohttp.ClientError, OSError, TimeoutError, asyncio.IncompleteReadError)
TOKEN = "a-token-of-the-soak"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def digest(event: dict[str, object]) -> str:
    """An event without what differs between two deliveries of it."""
    return hashlib.sha256(json.dumps(event, sort_keys=True).encode()).hexdigest()[:16]


@dataclass
class Conversation:
    """One session: requests one after the other, each sent until it is accepted, and a reader that never gives up."""

    url: str
    client: aiohttp.ClientSession
    id: str = ""
    accepted: list[str] = field(default_factory=list[str])
    """The ids of the exchanges, as the server named them."""
    seen: dict[int, str] = field(default_factory=dict[int, str])
    """Events by seq, as a reader got them."""
    doubled: int = 0
    changed: int = 0
    ended: set[str] = field(default_factory=set[str])
    breaks: int = 0

    async def open(self) -> None:
        while not self.id:
            with suppress(*NETWORK):
                async with self.client.post(f"{self.url}/sessions", json={}, headers=HEADERS) as made:
                    if made.status == 201:
                        self.id = (await made.json())["id"]
                        return
            await asyncio.sleep(0.3)

    async def ask(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            exchange = await self._send(f"Go. {random.random()}")
            self.accepted.append(exchange)
            while exchange not in self.ended:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def _send(self, text: str) -> str:
        body = {"text": text, "client_request_id": uuid4().hex}
        while True:
            with suppress(*NETWORK):
                path = f"{self.url}/sessions/{self.id}/messages"
                async with self.client.post(path, json=body, headers=HEADERS) as answer:
                    if answer.status in (200, 202):
                        return (await answer.json())["exchange"]
            await asyncio.sleep(0.3)

    async def read(self) -> None:
        """Follow the stream for ever. After a break it goes on behind the last event."""
        while True:
            with suppress(*NETWORK):
                await self._read_once()
            self.breaks += 1
            await asyncio.sleep(0.2)

    async def _read_once(self) -> None:
        last = max(self.seen, default=0)
        path = f"{self.url}/sessions/{self.id}/events?after={last}"
        timeout = aiohttp.ClientTimeout(total=None, sock_read=30)
        async with self.client.get(path, headers=HEADERS, timeout=timeout) as stream:
            async for line in stream.content:
                if line.startswith(b"data: "):
                    self._on_event(json.loads(line[6:]))

    def _on_event(self, event: dict[str, object]) -> None:
        seq = event.get("seq")
        if not isinstance(seq, int) or event.get("session") != self.id:
            return
        earlier = self.seen.get(seq)
        self.doubled += earlier is not None
        self.changed += earlier is not None and earlier != digest(event)
        self.seen[seq] = digest(event)
        if event["type"] == "exchange_response":
            self.ended.add(str(event["exchange"]))

    async def stored(self) -> list[dict[str, object]]:
        """The log, from the server."""
        events: list[dict[str, object]] = []
        while True:
            after = events[-1]["seq"] if events else 0
            path = f"{self.url}/sessions/{self.id}/log?after={after}&limit=1000"
            async with self.client.get(path, headers=HEADERS) as answer:
                page = (await answer.json())["events"]
            if not page:
                return events
            events += page


async def drip(port: int, seconds: float, count: int) -> None:
    """Connections without a token that send a byte now and then."""

    async def drip_bytes() -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(f"POST /login HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 99999\r\n".encode())
                while True:
                    writer.write(b"x")
                    await writer.drain()
                    await asyncio.sleep(random.uniform(0.5, 2))

    await asyncio.gather(*(drip_bytes() for _ in range(count)))


async def send_garbage(port: int, count: int) -> None:
    """Requests that are none, all at once."""

    async def send_bytes() -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(5):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(random.randbytes(random.randint(1, 4000)))
                await reader.read(1000)
                writer.close()

    await asyncio.gather(*(send_bytes() for _ in range(count)))


async def read_nothing(url: str, client: aiohttp.ClientSession, session: str, seconds: float) -> None:
    """Streams that are opened and never read."""
    with suppress(*NETWORK):
        streams = [await client.get(f"{url}/sessions/{session}/events", headers=HEADERS) for _ in range(10)]
        await asyncio.sleep(seconds)
        for stream in streams:
            stream.close()
