"""Repairs histories before they are sent: every call has one result, every id is legal and unique, nothing is empty.

APIs refuse a conversation in which a call has no result, a result has no call, or an id has an unknown shape. Crashes,
cancels, trimmed windows and a change of provider cause all of these.
"""

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from heald.core.messages import Block, File, Image, Message, ResultPart, Text, ToolCall, ToolResult
from heald.wires.request import legal_name

UNANSWERED = "No result: the call was interrupted before it finished. Its effects are unknown."
NO_OUTPUT = "(no output)"

Results = dict[str, deque[ToolResult]]
_id_of: Callable[[ToolCall], str] = attrgetter("id")


class History:
    """Repairs a growing conversation, and holds the id that each call has on this wire."""

    def __init__(self, wire: str, provider: str, model: str, make_legal: Callable[[str], str] = legal_name) -> None:
        self.origin = (wire, provider, model)
        self.ids: dict[str, str] = {}
        self._make_legal = make_legal
        self._used: set[str] = set()
        self._seen: set[str] = set()
        self._early: dict[str, ToolResult] = {}  # results that precede their call

    def copy(self) -> "History":
        twin = History(*self.origin, self._make_legal)
        twin.ids, twin._early = dict(self.ids), dict(self._early)
        twin._used, twin._seen = set(self._used), set(self._seen)
        return twin

    def extend(self, messages: Sequence[Message]) -> list[Message]:
        """Add messages and return them repaired.

        Every call is directly followed by its one result; orphans, duplicates and empty messages are dropped.
        """
        return self._extend(messages, has_all=True)[0]

    def extend_answered(self, messages: Sequence[Message]) -> tuple[list[Message], int]:
        """Add the messages before the first call without a result, which it may still get. Returns them repaired, and
        their number."""
        return self._extend(messages, has_all=False)

    def _extend(self, messages: Sequence[Message], *, has_all: bool) -> tuple[list[Message], int]:
        repaired: list[Message] = []
        for place, message in enumerate(messages):
            if message.role == "tool":
                self._keep_early(message)
            elif calls := message.tool_calls:
                answers = _find_answers(messages, place, calls)
                if answers is None:
                    results = _results_after(messages, place)
                    if not has_all and not all(call.id in results for call in calls):
                        return repaired, place
                    answers = self._pair(calls, results)
                self._add_calls(message, calls, answers, repaired)
            else:
                _add_plain(message, repaired)
        return repaired, len(messages)

    def _keep_early(self, message: Message) -> None:
        for block in message.content:
            if isinstance(block, ToolResult) and block.id not in self._seen:
                self._early.setdefault(block.id, block)

    def _add_calls(
        self, message: Message, calls: list[ToolCall], answers: list[ToolResult], repaired: list[Message]
    ) -> None:
        message = _without_blanks(message)
        ids = set(map(_id_of, calls))
        if len(ids) < len(calls) or not self._seen.isdisjoint(ids):
            message = _renumber(message, self._seen)
            calls = message.tool_calls
            ids = set(map(_id_of, calls))
        self._seen |= ids
        is_echoed = native_echo(message, self) is not None
        paired: list[Block] = []
        for call, answer in zip(calls, answers, strict=True):
            preferred_id = (call.wire_id or call.id) if is_echoed else self._make_legal(call.id)
            self.ids[call.id] = _unused(preferred_id, call.id, self._used, self._make_legal)
            named = answer.id == call.id and answer.name == call.name
            paired.append(answer if named else replace(answer, id=call.id, name=call.name))
        repaired.append(message)
        repaired.append(Message(role="tool", content=paired))

    def _pair(self, calls: list[ToolCall], results: Results) -> list[ToolResult]:
        """One result a call: the one that follows, one that precedes the call, or a placeholder."""
        answers: list[ToolResult] = []
        for call in calls:
            answer = results[call.id].popleft() if results.get(call.id) else self._early.pop(call.id, None)
            unanswered = ToolResult(id=call.id, name=call.name, status="interrupted", content=UNANSWERED)
            answers.append(answer or unanswered)
        return answers


def native_echo(message: Message, history: History) -> Any:
    """The provider's own content of a message, if the request goes to the wire, provider and model that wrote it."""
    native = message.native
    if native is None or (native.wire, native.provider, native.model) != history.origin:
        return None
    return native.content


def split_result(result: ToolResult) -> tuple[str, list[Image | File]]:
    """A result as text and media, for wires whose results are text only."""
    if isinstance(result.content, str):
        return _or_default(result.content), []
    media = [part for part in result.content if not isinstance(part, Text)]
    attached = f"({len(media)} attached below)" if media else NO_OUTPUT
    return _or_default(result.text, attached), media


def result_parts(result: ToolResult) -> list[ResultPart]:
    """A result as parts, never empty."""
    if isinstance(result.content, str):
        return [Text(_or_default(result.content))]
    return [part for part in result.content if not _blank(part)] or [Text(NO_OUTPUT)]


def _find_answers(messages: Sequence[Message], place: int, calls: list[ToolCall]) -> list[ToolResult] | None:
    """The results, if the next message holds them in the order of the calls, and nothing else."""
    if place + 1 == len(messages):
        return None
    following = messages[place + 1].content
    if len(following) != len(calls):
        return None
    answers: list[ToolResult] = []
    for call, block in zip(calls, following, strict=True):
        if not isinstance(block, ToolResult) or block.id != call.id:
            return None
        answers.append(block)
    return answers


def _results_after(messages: Sequence[Message], place: int) -> Results:
    """The results that belong to a message: those before the next assistant message."""
    results: Results = {}
    for message in messages[place + 1 :]:
        if message.role == "assistant":
            break
        for block in message.content:
            if isinstance(block, ToolResult):
                results.setdefault(block.id, deque()).append(block)
    return results


def _add_plain(message: Message, repaired: list[Message]) -> None:
    message = _without_blanks(message)
    if message.content or message.native is not None:
        repaired.append(message)


def _without_blanks(message: Message) -> Message:
    for block in message.content:
        if isinstance(block, Text) and not block.text.strip():
            return replace(message, content=[block for block in message.content if not _blank(block)])
    return message


def _renumber(message: Message, seen: set[str]) -> Message:
    """Give calls whose id was used before a new id. The native content is dropped: it holds the old one."""
    content: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolCall):
            if block.id in seen:
                block = replace(block, id=_fresh(block.id, seen), wire_id=None)
            seen.add(block.id)
        content.append(block)
    return replace(message, content=content, native=None)


def _fresh(call_id: str, seen: set[str]) -> str:
    number = 2
    while f"{call_id}_{number}" in seen:
        number += 1
    return f"{call_id}_{number}"


def _unused(preferred_id: str, call_id: str, used: set[str], make_legal: Callable[[str], str]) -> str:
    candidate, number = preferred_id, 1
    while candidate in used:
        number += 1
        candidate = make_legal(f"{number}_{call_id}")
    used.add(candidate)
    return candidate


def _or_default(text: str, otherwise: str = NO_OUTPUT) -> str:
    return text if text.strip() else otherwise


def _blank(block: Block) -> bool:
    return isinstance(block, Text) and not block.text.strip()
