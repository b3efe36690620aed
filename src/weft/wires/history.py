"""Histories made fit to be sent: every call answered once, every id legal and unique, nothing empty.

APIs refuse a conversation in which a call has no result, a result has no call, or an id is of a shape they do not
know. Crashes, cancels, trimmed windows and a change of provider leave all of these behind.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from weft.core.content import Image, Text
from weft.core.messages import Block, Message, user
from weft.core.tools import ResultPart, ToolCall, ToolResult
from weft.wires.request import legal_id

UNANSWERED = "No result: the call was interrupted before it finished. Its effects are unknown."
NO_OUTPUT = "(no output)"
OPENING = "Continue."


class History(msgspec.Struct, frozen=True):
    """Repaired messages, and the id that each call has on this wire."""

    messages: list[Message]
    ids: dict[str, str]


def prepare(
    messages: list[Message],
    *,
    wire: str,
    provider: str,
    model: str,
    make_legal: Callable[[str], str] = legal_id,
    user_first: bool = False,
) -> History:
    """The history as one wire can take it. Doing it twice changes nothing more."""
    repaired = repair(messages)
    if user_first and repaired and repaired[0].role != "user":
        repaired.insert(0, user(OPENING))
    ids: dict[str, str] = {}
    used: set[str] = set()
    for message in repaired:
        own = echo_of(message, wire, provider, model) is not None
        for call in message.tool_calls:
            wanted = (call.wire_id or call.id) if own else make_legal(call.id)
            ids[call.id] = _unused(wanted, call.id, used, make_legal)
    return History(repaired, ids)


def echo_of(message: Message, wire: str, provider: str, model: str) -> Any:
    """The provider's own content of a message, if this request goes back to where it came from."""
    native = message.native
    if native is None or (native.wire, native.provider, native.model) != (wire, provider, model):
        return None
    return native.content


def repair(messages: list[Message]) -> list[Message]:
    """Every call directly followed by its one result; orphans, duplicates and empty messages gone."""
    answers = _answers(messages)
    repaired: list[Message] = []
    seen: set[str] = set()
    for message in messages:
        if message.role == "tool":
            continue
        content = [block for block in message.content if not _blank(block)]
        if not content and message.native is None:
            continue
        message = replace(message, content=content) if len(content) < len(message.content) else message
        calls = message.tool_calls
        if any(call.id in seen for call in calls):
            message = _renumber(message, seen, answers)
            calls = message.tool_calls
        repaired.append(message)
        seen.update(call.id for call in calls)
        if calls:
            results = [_answer(call, answers) for call in calls]
            repaired.append(Message(role="tool", content=[*results]))
    return repaired


def split_images(result: ToolResult) -> tuple[str, list[Image]]:
    """A result as text and pictures, for wires whose results are text only."""
    if isinstance(result.content, str):
        return result.content or NO_OUTPUT, []
    images = [part for part in result.content if isinstance(part, Image)]
    return result.text or (f"({len(images)} image(s), attached below)" if images else NO_OUTPUT), images


def parts_of(result: ToolResult) -> list[ResultPart]:
    """A result as parts, never empty."""
    if isinstance(result.content, str):
        return [Text(result.content or NO_OUTPUT)]
    parts = [part for part in result.content if not _blank(part)]
    return parts or [Text(NO_OUTPUT)]


def _answers(messages: list[Message]) -> dict[str, deque[ToolResult]]:
    answers: dict[str, deque[ToolResult]] = {}
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolResult):
                answers.setdefault(block.id, deque()).append(block)
    return answers


def _answer(call: ToolCall, answers: dict[str, deque[ToolResult]]) -> ToolResult:
    known = answers.get(call.id)
    if known:
        return replace(known.popleft(), name=call.name)
    return ToolResult(id=call.id, name=call.name, status="interrupted", content=UNANSWERED)


def _renumber(message: Message, seen: set[str], answers: dict[str, deque[ToolResult]]) -> Message:
    """Give calls whose id was used before a new one. Their native content goes: it holds the old one."""
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolCall) and block.id in seen:
            number = 2
            while (fresh := f"{block.id}_{number}") in seen:
                number += 1
            known = answers.get(block.id)
            if known:
                answers.setdefault(fresh, deque()).append(replace(known.popleft(), id=fresh))
            seen.add(fresh)
            block = replace(block, id=fresh, wire_id=None)
        content.append(block)
    return replace(message, content=content, native=None)


def _unused(wanted: str, call_id: str, used: set[str], make_legal: Callable[[str], str]) -> str:
    candidate, number = wanted, 1
    while candidate in used:
        number += 1
        candidate = make_legal(f"{number}_{call_id}")
    used.add(candidate)
    return candidate


def _blank(block: Block) -> bool:
    return isinstance(block, Text) and not block.text.strip()
