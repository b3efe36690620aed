"""A case as its file has it. README.md in this folder describes the fields."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolDefinition, user_message
from heald.core.turn import Settings, Usage
from heald.testing.streams import sse_event
from heald.wires.request import Quirks

FOLDER = Path(__file__).parent / "cases"
MODEL = "test-model"
PROVIDER = "test"

_CHAT = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
_OLLAMA: JsonObject = {"model": MODEL, "created_at": "2026-01-01T00:00:00Z", "done": False}


class ExpectedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    id: str | None = None
    """None: any id that is not empty."""
    input: JsonObject = {}
    invalid: str | None = None
    raw: str | None = None
    revised: bool = False
    """The final arguments differ from the deltas that were shown before."""


class ExpectedError(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    code: str
    retryable: bool


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    outcome: Literal["stopped", "discarded"] = "stopped"
    text: str | None = None
    text_length: int | None = None
    thinking: str = ""
    refusal: str = ""
    calls: list[ExpectedCall] = []
    stop_reason: str | None = None
    blocks: list[str] | None = None
    sources: list[str] | None = None
    usage: Usage | None = None
    ignored: int | None = None
    error: ExpectedError | None = None


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    id: str
    title: str
    wire: str
    why: str
    model: str = MODEL
    settings: Settings = Settings()
    quirks: Quirks = Quirks()
    tools: list[ToolDefinition] = []
    history: list[Message] = msgspec.field(default_factory=lambda: [user_message("Go.")])
    content_type: str | None = None
    stream: list[Any] | None = None
    expect: Expected | None = None
    expect_next: Any = None
    expect_request: Any = None

    def pieces(self) -> list[bytes]:
        """The stream in the pieces that a server would send."""
        return [_piece(self.wire, entry) for entry in self.stream or []]


def load(path: Path) -> Case:
    raw = json.loads(path.read_text("utf-8"))
    for message in raw.get("history", ()):
        if isinstance(message["content"], str):
            message["content"] = [{"type": "text", "text": message["content"]}]
    raw["tools"] = [{"name": tool} if isinstance(tool, str) else tool for tool in raw.get("tools", ())]
    case = msgspec.convert(raw, Case)
    assert path.parent.name == case.wire, f"{path} is a case of {case.wire}"
    assert path.name.startswith(f"{case.id}-"), f"{path} is case {case.id}"
    return case


@cache
def all_cases() -> dict[str, Case]:
    """Every case by wire and file name: `chat/T01-interleaved`."""
    return {f"{path.parent.name}/{path.stem}": load(path) for path in sorted(FOLDER.glob("*/*.json"))}


def _piece(wire: str, entry: Any) -> bytes:
    if isinstance(entry, str):
        return sse_event(entry)
    entry = cast(JsonObject, entry)
    if "raw" in entry:
        return entry["raw"].encode()
    if "hex" in entry:
        return bytes.fromhex(entry["hex"])
    if "fill" in entry:
        mark, text, times = entry["fill"]
        return _piece(wire, entry["event"]).replace(mark.encode(), text.encode() * times)
    if wire == "ollama":
        return encode(_OLLAMA | entry) + b"\n"
    if wire == "chat" and ("delta" in entry or "finish" in entry):
        entry = dict(entry)
        choice = {"index": 0, "delta": entry.pop("delta", {}), "finish_reason": entry.pop("finish", None)}
        return sse_event(_CHAT | {"choices": [choice]} | entry)
    if wire == "gemini" and ("parts" in entry or "finish" in entry):
        entry = dict(entry)
        candidate: JsonObject = {"index": 0}
        if "parts" in entry:
            candidate["content"] = {"role": "model", "parts": entry.pop("parts")}
        if "finish" in entry:
            candidate["finishReason"] = entry.pop("finish")
        return sse_event({"candidates": [candidate]} | entry)
    named = wire in ("responses", "messages")
    return sse_event(entry, entry["type"] if named and "type" in entry else "")
