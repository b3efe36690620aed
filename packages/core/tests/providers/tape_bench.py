"""Conversations to record and play back, and what must be equal of both."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from provider_bench import ask, model_at

import heald
from heald.core.errors import ProviderError
from heald.core.messages import user_message
from heald.core.payload import Payload
from heald.providers.base import ProviderTurn

_IDS = re.compile(r"\b(?:msg|call)_[0-9a-f]{20}\b")


def facts(events: Sequence[Payload]) -> list[str]:
    """Events as text, their random ids by order of appearance."""
    numbers: dict[str, str] = {}
    text = msgspec.json.encode([[payload.type, payload] for payload in events]).decode()
    text = _IDS.sub(lambda message_id: numbers.setdefault(message_id[0], f"id{len(numbers)}"), text)
    return [msgspec.json.encode(event).decode() for event in msgspec.json.decode(text)]


class Outcome(msgspec.Struct):
    """What is the same in a recording and its replay."""

    said: str
    code: str
    events: list[str]


async def converse(url: str, wire: str = "chat", *, key: str | None = None, **options: Any) -> Outcome:
    """One question over one wire, and all that came of it."""
    settings: dict[str, Any] = {"messages": [user_message("Go.")], "retry": heald.Retry(base=0)} | options
    result, events = await ask(heald.providers.open_provider_session(model_at(url, wire, api_key=key), **settings))
    if isinstance(result, ProviderError):
        return Outcome(str(result), result.code, facts(events))
    assert isinstance(result, ProviderTurn)
    return Outcome(result.text, result.stop_reason, facts(events))


def exchanges(path: Path) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
