"""Histories made fit to be sent: every call answered once, every id legal and unique, nothing empty.

APIs refuse a conversation in which a call has no result, a result has no call, or an id is of a shape they do not
know. Crashes, cancels, trimmed windows and a change of provider leave all of these behind.
"""

from collections import deque
from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

from msgspec.structs import replace

from weft.core.content import Image, Text
from weft.core.json import JsonObject
from weft.core.messages import Block, Message, user
from weft.core.tools import ResultPart, ToolCall, ToolResult
from weft.wires.request import legal_id

UNANSWERED = "No result: the call was interrupted before it finished. Its effects are unknown."
NO_OUTPUT = "(no output)"
_OPENING = user("Continue.")


class History:
    """Repaired messages in the order they came, and the id that each call has on this wire.

    It grows with the conversation: what was taken once is not looked at again.
    """

    def __init__(self, wire: str, provider: str, model: str, make_legal: Callable[[str], str] = legal_id) -> None:
        self.origin = (wire, provider, model)
        self.ids: dict[str, str] = {}
        self._make_legal = make_legal
        self._used: set[str] = set()
        self._seen: set[str] = set()
        self._answers: dict[str, deque[ToolResult]] = {}

    def copy(self) -> "History":
        twin = History(*self.origin, self._make_legal)
        twin.ids, twin._used, twin._seen = dict(self.ids), set(self._used), set(self._seen)
        twin._answers = {name: deque(answers) for name, answers in self._answers.items()}
        return twin

    def extend(self, messages: Sequence[Message]) -> list[Message]:
        """Take more of the conversation; give out its repaired form.

        Every call is directly followed by its one result; orphans, duplicates and empty messages are gone.
        """
        for message in messages:
            if message.role == "tool":
                for block in message.content:
                    if isinstance(block, ToolResult):
                        self._answers.setdefault(block.id, deque()).append(block)
        repaired: list[Message] = []
        for message in messages:
            if message.role != "tool":
                self._take(message, repaired)
        return repaired

    def is_answered(self, message: Message, later: Sequence[Message]) -> bool:
        """Every call of a message has its result, or gets it from what follows."""
        known = {block.id for m in later for block in m.content if isinstance(block, ToolResult)}
        return all(call.id in known or self._answers.get(call.id) for call in message.tool_calls)

    def _take(self, message: Message, repaired: list[Message]) -> None:
        content = [block for block in message.content if not _blank(block)]
        if not content and message.native is None:
            return
        if len(content) < len(message.content):
            message = replace(message, content=content)
        calls = message.tool_calls
        if not calls:
            repaired.append(message)
            return
        if any(call.id in self._seen for call in calls):
            message = _renumber(message, self._seen, self._answers)
            calls = message.tool_calls
        own = echo_of(message, *self.origin) is not None
        for call in calls:
            wanted = (call.wire_id or call.id) if own else self._make_legal(call.id)
            self.ids[call.id] = _unused(wanted, call.id, self._used, self._make_legal)
        self._seen.update(call.id for call in calls)
        repaired.append(message)
        repaired.append(Message(role="tool", content=[_answer(call, self._answers) for call in calls]))


class RenderCache:
    """What of a conversation was already written in a wire's words. Kept from turn to turn by a session."""

    def __init__(self) -> None:
        self.history: History | None = None
        self.source: list[Message] = []
        self.items: list[JsonObject] = []


Write = Callable[[Message, History, list[JsonObject]], None]
"""Adds one repaired message, in a wire's words, to what was written so far."""


def render(
    messages: list[Message],
    history: History,
    write: Write,
    *,
    cache: RenderCache | None = None,
    user_first: bool = False,
) -> list[JsonObject]:
    """A whole conversation in a wire's words. Only what the cache does not hold is worked on."""
    if user_first and messages and messages[0].role != "user":
        messages = [_OPENING, *messages]
    cache = cache or RenderCache()
    done = len(cache.source)
    if cache.history is None or done > len(messages) or not all(map(is_, cache.source, messages)):
        cache.history, cache.source, cache.items, done = history, [], [], 0
    settled = _settled(messages, done, cache.history)
    _write_all(messages[done:settled], cache.history, cache.items, write)
    cache.source = messages[:settled]
    if settled == len(messages):
        return list(cache.items)
    items = list(cache.items)
    _write_all(messages[settled:], cache.history.copy(), items, write)
    return items


def _write_all(messages: list[Message], history: History, items: list[JsonObject], write: Write) -> None:
    for message in history.extend(messages):
        write(message, history, items)


def _settled(messages: list[Message], done: int, history: History) -> int:
    """Up to where nothing that follows can change what was written: the last open calls are left out."""
    for place in range(len(messages) - 1, done - 1, -1):
        message = messages[place]
        if message.role == "assistant" and message.tool_calls:
            return len(messages) if history.is_answered(message, messages[place + 1 :]) else place
    return len(messages)


def echo_of(message: Message, wire: str, provider: str, model: str) -> Any:
    """The provider's own content of a message, if this request goes back to where it came from."""
    native = message.native
    if native is None or (native.wire, native.provider, native.model) != (wire, provider, model):
        return None
    return native.content


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
