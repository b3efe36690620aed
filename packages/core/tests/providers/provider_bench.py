"""Sessions with scripted servers, and what was seen of their turns."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

import heald
from heald.core.errors import ProviderError
from heald.core.events import MessageDiscarded, MessageStart, TextDelta
from heald.core.messages import user_message
from heald.core.payload import Payload
from heald.providers.base import ProviderSession, ProviderTurn
from heald.testing.server import Reply, ScriptedServer, Step
from heald.testing.streams import sse_event, wire_stream

WIRES = ["chat", "responses", "messages", "gemini", "ollama"]
KEY = "canary.4f1d93.never-shown"
"""It looks like no known key, so that nothing masks it by its looks."""
NOW = heald.Retry(base=0)
ONCE = heald.Retry(attempts=1)

_BASES = {"gemini": "/v1beta", "ollama": ""}
_TYPES = {"ollama": "application/x-ndjson"}

ERRORS: dict[str, bytes] = {
    "chat": sse_event({"error": {"message": "overloaded", "code": 503}}),
    "responses": sse_event({"type": "error", "code": "server_error", "message": "failed"}, "error"),
    "messages": sse_event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error"),
    "gemini": sse_event({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}),
    "ollama": b'{"error":"the runner crashed"}\n',
}


def model_at(url: str, wire: str = "chat", name: str = "test-model", **options: Any) -> heald.Model:
    settings: dict[str, Any] = {"api_key": KEY, "provider": "test"} | options
    return heald.Model(name, wire=wire, base_url=url + _BASES.get(wire, "/v1"), **settings)


def session_at(server: ScriptedServer | str, wire: str = "chat", **options: Any) -> ProviderSession:
    url = server if isinstance(server, str) else server.url
    settings: dict[str, Any] = {"messages": [user_message("Go.")], "retry": NOW} | options
    return heald.providers.open_provider_session(model_at(url, wire), **settings)


async def ask(session: ProviderSession) -> tuple[ProviderTurn | ProviderError, list[Payload]]:
    """One turn or its error, and everything that was seen of it."""
    events: list[Payload] = []
    async with asyncio.timeout(60):
        try:
            return await session.stream_turn(events.append), events
        except ProviderError as error:
            return error, events
        finally:
            await session.close()


async def turn_of(session: ProviderSession) -> ProviderTurn:
    turn, _ = await ask(session)
    assert isinstance(turn, ProviderTurn), turn
    return turn


async def error_of(session: ProviderSession) -> ProviderError:
    error, _ = await ask(session)
    assert isinstance(error, ProviderError), error
    return error


def body(wire: str, *steps: Step, **more: Any) -> Reply:
    return Reply(steps, content_type=_TYPES.get(wire, "text/event-stream"), **more)


def half(wire: str) -> list[bytes]:
    """An answer that has begun and is not finished."""
    pieces = wire_stream(wire, text=["Half an ", "answer"])
    return pieces[: next(at for at, piece in enumerate(pieces) if b"Half" in piece) + 1]


def types(events: Sequence[Payload]) -> list[str]:
    return [payload.type for payload in events]


def attempts(events: Sequence[Payload]) -> list[int]:
    return [payload.attempt for payload in events if isinstance(payload, MessageStart)]


def streamed_text(events: Sequence[Payload]) -> str:
    """The text that a client shows: a discarded attempt takes its own back."""
    text = ""
    for payload in events:
        if isinstance(payload, TextDelta):
            text += payload.text
        elif isinstance(payload, MessageDiscarded):
            text = ""
    return text


def written(events: Sequence[Payload]) -> str:
    """All that events say, as a log would hold it."""
    return msgspec.json.encode(list(events)).decode()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def is_one_sentence(text: str) -> bool:
    """Told to a person: no line break, no traceback, no class name, and an end."""
    return "\n" not in text and "Traceback" not in text and "Error(" not in text and text[-1:] in ".?"
