"""The bare loop: aiohttp and orjson without a framework, and nothing that a loop can do without.

One session is reused, without cookies and timers. Answers are read in chunks as they arrive and cut at blank lines; no
line is read by itself. Each wire module has the same parts: `body` builds the request of a conversation, and a
`Turn` takes one decoded event after the other and knows at the end what to append to the conversation.
"""

from functools import cache
from typing import Any, Protocol, cast

import aiohttp
import orjson
from yarl import URL

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
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        auto_decompress=False,
        skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding"),
        headers={"Authorization": "Bearer sk-bench", "Content-Type": "application/json"},
    )


@cache
def _url(url: str) -> URL:
    return URL(url)


async def converse(ask: Ask) -> Seen:
    http = _http()
    codec = _WIRES[ask.wire]
    url = _url(codec.url(ask.base_url, ask.model))
    history = [*ask.past, *codec.opening()]
    blank = b"\r\n\r\n" if ask.wire == "gemini" else b"\n\n"
    deltas = 0
    while True:
        turn = codec.Turn(ask.pieces())
        feed = turn.feed
        async with http.post(url, data=orjson.dumps(codec.body(ask.model, history))) as response:
            if response.status != 200:
                response.raise_for_status()
            rest = b""
            read = response.content.readany
            while data := await read():
                *events, rest = (rest + data if rest else data).split(blank)
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
