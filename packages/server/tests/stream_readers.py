"""Readers of a session's stream that keep what they were told, over server-sent events and over WebSocket.

They know what any client may know: a frame with a cursor ends what belongs together, so after a break the frames behind
the last cursor are dropped, and the stream goes on behind it.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from typing import Any

import aiohttp
import msgspec

from heald.core.json import JsonObject, loads


class ReceivedFrame(msgspec.Struct, frozen=True):
    """One frame as it came."""

    data: str
    event: str | None = None
    cursor: int | None = None

    @property
    def json(self) -> JsonObject:
        return loads(self.data)


Enough = Callable[[ReceivedFrame], bool]
SILENCE = 60.0
"""Seconds after which a reader that hears nothing gives up: no test waits for so long on purpose."""

RESPONSE_ENDS = ("response.completed", "response.failed", "response.incomplete")
ENDS: dict[str, Enough] = {
    "native": lambda told: told.json["type"] == "exchange_response",
    "studio": lambda told: told.json["type"] in ("variantComplete", "variantError"),
    "loop": lambda told: (told.event or told.json.get("event")) == "done",
    "normalized": lambda told: told.json["type"] == "end",
    "ai-sdk": lambda told: told.json["type"] == "finish",
    "ag-ui": lambda told: told.json["type"] == "RUN_FINISHED",
    "agentx": lambda told: told.json["type"] == "exchange_response",
    "responses": lambda told: (told.event or told.json.get("event")) in RESPONSE_ENDS,
    "openai": lambda told: bool(told.json["choices"]) and told.json["choices"][0]["finish_reason"] is not None,
}
"""How an exchange ends in each dialect."""


async def sse_frames(answer: aiohttp.ClientResponse) -> AsyncGenerator[ReceivedFrame]:
    """What a stream of server-sent events says, comments left out."""
    cursor: int | None = None
    event: str | None = None
    data: list[str] = []
    async for line in _lines(answer):
        if not line:
            if data:
                yield ReceivedFrame("\n".join(data), event, cursor)
            cursor, event, data = None, None, []
            continue
        field, _, value = line.partition(": ")
        if field == "data":
            data.append(value)
        elif field == "event":
            event = value
        elif field == "id":
            cursor = int(value)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncGenerator[str]:
    """Whole lines, of any length."""
    rest = bytearray()
    async for chunk in answer.content.iter_any():
        rest += chunk
        *lines, rest = rest.split(b"\n")
        for line in lines:
            yield line.decode()


async def ws_frames(socket: aiohttp.ClientWebSocketResponse) -> AsyncGenerator[ReceivedFrame]:
    """What a socket says, but for what is only about the socket."""
    async for message in socket:
        assert message.type == aiohttp.WSMsgType.TEXT
        said = loads(message.data)
        if said.get("type") in ("subscribed", "heartbeat", "goodbye", "pong", "reply"):
            continue
        yield ReceivedFrame(message.data, None, said.get("seq"))


class Copy:
    """What a client has of a session, however often it had to come back."""

    def __init__(self, client: aiohttp.ClientSession, session: str, dialect: str = "native", over: str = "sse") -> None:
        self.client = client
        self.session = session
        self.dialect = dialect
        self.over = over
        self.frames: list[ReceivedFrame] = []
        self.connects = 0

    @property
    def cursor(self) -> int | None:
        return next((told.cursor for told in reversed(self.frames) if told.cursor is not None), None)

    def has_ended(self, exchange: str) -> bool:
        """Whether it knows of the end of an exchange, in the native dialect."""
        ends = (told.json for told in reversed(self.frames) if '"exchange_response"' in told.data)
        return any(event["exchange"] == exchange for event in ends)

    def drop_unfinished(self) -> None:
        """Forget the frames behind the last cursor: they come again."""
        while self.frames and self.frames[-1].cursor is None:
            self.frames.pop()

    async def read(self, enough: Enough, most: int | None = None) -> bool:
        """Connect, take frames until it is enough or so many have come, and leave. Whether it was enough."""
        self.drop_unfinished()
        self.connects += 1
        taken = 0
        async with aclosing(self._sse() if self.over == "sse" else self._ws()) as frames:
            while most is None or taken < most:
                async with asyncio.timeout(SILENCE):
                    told = await anext(frames, None)
                if told is None:
                    return False
                self.frames.append(told)
                taken += 1
                if enough(told):
                    return True
        return False

    async def read_in_pieces(self, enough: Enough, breaks: int, chance: random.Random, most: int = 12) -> None:
        """Leave so many times on the way: after some frames, or after a moment."""
        for _ in range(breaks):
            with suppress(TimeoutError):
                async with asyncio.timeout(chance.uniform(0.001, 0.08)):
                    await self.read(lambda _: False, chance.randint(0, most))
        self.drop_unfinished()
        if not any(enough(told) for told in self.frames[-1:]):
            assert await self.read(enough)

    async def read_through(self, enough: Enough, patience: float = 120.0) -> None:
        """Come back whenever the connection ends, also while nobody is there to answer."""
        async with asyncio.timeout(patience):
            while True:
                try:
                    if await self.read(enough):
                        return
                except (aiohttp.ClientError, ConnectionError):
                    pass
                await asyncio.sleep(0.02)

    async def _sse(self) -> AsyncGenerator[ReceivedFrame]:
        headers = {} if self.cursor is None else {"Last-Event-ID": str(self.cursor)}
        path = f"/sessions/{self.session}/events?dialect={self.dialect}"
        timeout = aiohttp.ClientTimeout(total=None)
        async with self.client.get(path, headers=headers, timeout=timeout) as answer:
            assert answer.status == 200, await answer.text()
            async with aclosing(sse_frames(answer)) as frames:
                async for told in frames:
                    if told.event != "goodbye":
                        yield told

    async def _ws(self) -> AsyncGenerator[ReceivedFrame]:
        path = f"/sessions/{self.session}/ws?dialect={self.dialect}"
        async with self.client.ws_connect(path, max_msg_size=0) as socket:
            await socket.send_json({"resume": self.cursor})
            async with aclosing(ws_frames(socket)) as frames:
                async for told in frames:
                    yield told


async def receive_until(socket: aiohttp.ClientWebSocketResponse, kind: str) -> list[dict[str, Any]]:
    """All messages up to the first of a type."""
    heard: list[dict[str, Any]] = []
    async with asyncio.timeout(120):
        while not heard or heard[-1].get("type") != kind:
            heard.append(await socket.receive_json())
    return heard
