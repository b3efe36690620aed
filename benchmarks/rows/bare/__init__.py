"""The bare loop: aiohttp and orjson without a framework, written as a competent developer would.

One session is reused. Each wire module has the same parts: `body` builds the request of a conversation, and a
`Turn` takes one decoded event after the other and knows at the end what to append to the conversation.
"""

from functools import cache
from typing import Any, Protocol, cast

import aiohttp
import orjson

from benchmarks.row import Ask, Row, Seen
from benchmarks.rows.bare import chat, gemini, messages, responses
from benchmarks.scenarios import WIRES, Wire


class Turn(Protocol):
    """One streamed answer."""

    deltas: int
    text: list[str]

    def __init__(self, text: list[str], /) -> None: ...
    def feed(self, event: dict[str, Any]) -> None: ...
    async def continuation(self) -> list[dict[str, Any]]:
        """The assistant's message and the results of its calls, executed; empty when it made none."""
        ...


class BareWire(Protocol):
    """What each wire module offers."""

    Turn: type[Turn]

    def url(self, base_url: str, model: str, /) -> str: ...
    def body(self, model: str, history: list[dict[str, Any]], /) -> dict[str, Any]: ...
    def opening(self) -> list[dict[str, Any]]: ...


_WIRES = cast(
    dict[Wire, BareWire],
    {"chat": chat, "responses": responses, "messages": messages, "gemini": gemini},
)


@cache
def _http() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        headers={"Authorization": "Bearer sk-bench", "Content-Type": "application/json"},
    )


async def converse(ask: Ask) -> Seen:
    http = _http()
    codec = _WIRES[ask.wire]
    url = codec.url(ask.base_url, ask.model)
    history = [*ask.past, *codec.opening()]
    blank = b"\r\n\r\n" if ask.wire == "gemini" else b"\n\n"
    deltas = 0
    while True:
        turn = codec.Turn(ask.pieces())
        feed = turn.feed
        async with http.post(url, data=orjson.dumps(codec.body(ask.model, history))) as response:
            response.raise_for_status()
            rest = b""
            async for data in response.content.iter_any():
                *events, rest = (rest + data).split(blank)
                for event in events:
                    if event.startswith(b"data: {"):
                        feed(orjson.loads(event[6:]))
                    elif event.startswith(b"event: "):
                        feed(orjson.loads(event[event.index(b"\ndata: ") + 7 :]))
        deltas += turn.deltas
        added = await turn.continuation()
        if not added:
            return Seen("".join(turn.text), deltas)
        history += added


ROW = Row("aiohttp", "import aiohttp, orjson", WIRES, converse)
