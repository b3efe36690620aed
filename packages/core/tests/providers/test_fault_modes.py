"""The table of faults in docs/testing.md: each fault on each wire has the outcome that the table states."""

from collections.abc import Callable
from typing import Any

import pytest
from provider_bench import ask, session_at

import heald
from heald.core.errors import ProviderError
from heald.providers.base import ProviderTurn
from heald.testing.server import Cut, Hang, Pause, Reply, Reset, ScriptedServer, Step
from heald.testing.streams import wire_stream
from repository import ROOT

PAGE = ROOT / "docs" / "testing.md"
WIRES = ("chat", "responses", "messages", "gemini", "ollama")
TEXT = ["Hel", "lo, ", "you"]
WHOLE: dict[str, Any] = {
    "chat": {"id": "c", "choices": [{"index": 0, "message": {"content": "Hello, you"}, "finish_reason": "stop"}]},
    "responses": {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [{"id": "m", "type": "message", "content": [{"type": "output_text", "text": "Hello, you"}]}],
    },
    "messages": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello, you"}],
        "stop_reason": "end_turn",
    },
    "gemini": {"candidates": [{"content": {"parts": [{"text": "Hello, you"}]}, "finishReason": "STOP"}]},
    "ollama": {"model": "m", "message": {"content": "Hello, you"}, "done": True, "done_reason": "stop"},
}


def _pieces(wire: str) -> list[bytes]:
    pieces = wire_stream(wire, text=TEXT)
    if wire != "responses":
        return pieces
    numbered = enumerate(pieces)
    return [piece.replace(b"data: {", b'data: {"sequence_number":%d,' % number, 1) for number, piece in numbered]


def _at(wire: str, text: str) -> int:
    return next(at for at, piece in enumerate(_pieces(wire)) if text.encode() in piece)


def _stream(wire: str, *steps: Step, content_type: str = "") -> Reply:
    kind = "application/x-ndjson" if wire == "ollama" else "text/event-stream"
    return Reply(steps, content_type=content_type or kind)


def _cut(wire: str, *end: Step) -> Reply:
    return _stream(wire, *_pieces(wire)[: _at(wire, "lo, ") + 1], *end)


def _twice(wire: str) -> Reply:
    pieces, at = _pieces(wire), _at(wire, "lo, ")
    return _stream(wire, *pieces[: at + 1], *pieces[at:])


def _swapped(wire: str) -> Reply:
    pieces, at = _pieces(wire), _at(wire, "lo, ")
    pieces[at : at + 2] = [pieces[at + 1], pieces[at]]
    return _stream(wire, *pieces)


def _missing(wire: str) -> Reply:
    pieces, at = _pieces(wire), _at(wire, "lo, ")
    return _stream(wire, *pieces[:at], *pieces[at + 1 :])


def _restarted(wire: str) -> Reply:
    pieces, at = _pieces(wire), _at(wire, "lo, ")
    return _stream(wire, *pieces[:at], *pieces)


def _garbage(wire: str) -> Reply:
    pieces, at = _pieces(wire), _at(wire, "lo, ")
    bad = b'{"oops\n' if wire == "ollama" else b'data: {"oops\n\n'
    return _stream(wire, *pieces[:at], bad, *pieces[at:])


def _error(wire: str) -> Reply:
    report = b'{"type":"error","error":{"type":"overloaded_error","code":503,"message":"Overloaded"}}'
    return _cut(wire, report + b"\n" if wire == "ollama" else b"event: error\ndata: " + report + b"\n\n")


FAULTS: dict[str, Callable[[str], Reply]] = {
    "the connection is cut in the text": lambda wire: _cut(wire, Cut()),
    "the connection is reset in the text": lambda wire: _cut(wire, Pause(0.05), Reset()),
    "the stream ends cleanly in the text": lambda wire: _cut(wire),
    "the last event is missing": lambda wire: _stream(wire, *_pieces(wire)[:-1]),
    "a text delta is repeated": _twice,
    "two text deltas are swapped": _swapped,
    "a text delta is missing": _missing,
    "the stream starts once more": _restarted,
    "an event is not JSON": _garbage,
    "an error event follows the text": _error,
    "only keep-alives follow the text": lambda wire: _cut(wire, *[b"\n", Pause(0.02)] * 100, Hang()),
    "the whole answer is one JSON document": lambda wire: Reply.json(WHOLE[wire]),
    "the stream is labelled text/plain": lambda wire: _stream(wire, *_pieces(wire), content_type="text/plain"),
    "the answer is an HTML page": lambda wire: _stream(wire, b"<html>Log in</html>", content_type="text/html"),
    "HTTP 503": lambda _: Reply.json({"error": {"message": "busy"}}, 503),
    "HTTP 429 with Retry-After: 3600": lambda _: Reply.json(
        {"error": {"message": "slow"}}, 429, {"retry-after": "3600"}
    ),
    "HTTP 402": lambda _: Reply.json({"error": {"message": "no credit"}}, 402),
}


def _table() -> dict[str, list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text("utf-8").splitlines()]
    return {row[0]: row[1:] for row in rows if row[0] in FAULTS}


def test_the_table_has_every_fault() -> None:
    assert list(_table()) == list(FAULTS)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("fault", list(FAULTS))
async def test_a_fault_has_its_outcome(fault: str, wire: str) -> None:
    answer = _stream(wire, *wire_stream(wire, text="Next."))
    script = iter([FAULTS[fault](wire), answer])
    timeouts = heald.Timeouts(content=0.5, tail=0.5)
    asked = 0

    def reply(request: Any) -> Reply:
        nonlocal asked
        if request.path.endswith("/api/show"):  # asks Ollama for the size of the context
            return Reply.json({"error": "unknown"}, 404)
        asked += 1
        return next(script)

    async with ScriptedServer(reply) as server:
        outcome, _ = await ask(session_at(server, wire, retry=heald.Retry(attempts=2, base=0), timeouts=timeouts))
    if isinstance(outcome, ProviderError):
        observed = f"fails: `{outcome.code}`"
        assert asked == 1
    else:
        assert isinstance(outcome, ProviderTurn)
        text = outcome.text
        observed = "retried" if text == "Next." else "finished" if text == "Hello, you" else "not noticed"
        assert asked == (2 if observed == "retried" else 1)
    assert observed == _table()[fault][WIRES.index(wire)]
