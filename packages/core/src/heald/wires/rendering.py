"""Encodes the requests of a conversation. Each turn encodes only what is new since the turn before."""

from collections.abc import Callable
from typing import Any

import msgspec

from heald.core.json import JsonObject, encode
from heald.core.lazy import lazy_property
from heald.core.messages import File, Image, Message, user_message
from heald.core.recent_results import RecentResults
from heald.core.running_total import RunningTotal
from heald.core.turn import Settings
from heald.wires.history import History
from heald.wires.request import TurnRequest, legal_name

_OPENING = user_message("Continue.")
_STILL_OPEN = 4
"""The items at the end that stay values: a wire may add to the last one, and mark those before the last answers."""
_WITH_FILES = (Image, File)


class RenderCache:
    """The parts of a conversation's requests that are already encoded. A session keeps them from turn to turn."""

    def __init__(self) -> None:
        self.history: History | None = None
        self.form: object = None
        """What the form of the items depends on, beside the messages and the model."""
        self.source: list[Message] = []
        self.items: list[JsonObject] = []
        self.encoded: list[Any] = []
        """The items as bytes, without the last few: a wire may still add to those."""
        self.settings: tuple[Settings, Settings] | None = None
        """The settings of the last turn, and those of them that the wire supports."""
        self.frame: JsonObject = {}
        """The fields of the last request beside the conversation, as bytes."""
        self.frame_of: tuple[object, ...] = ()
        """All that these fields depend on."""

    @lazy_property
    def file_ids(self) -> RunningTotal:
        """Counts the uploaded files that messages name."""
        return RunningTotal(_count_file_ids)

    def encode_stable(self) -> None:
        for item in self.items[len(self.encoded) : -_STILL_OPEN]:
            self.encoded.append(msgspec.Raw(encode(item)))


def _count_file_ids(message: Message) -> int:
    number = 0
    for block in message.content:
        if isinstance(block, _WITH_FILES) and block.file_id:
            number += 1
    return number


def build_frame(request: TurnRequest, build: Callable[[TurnRequest], JsonObject]) -> JsonObject:
    """Return the fields of a request that do not depend on its messages. They are built and encoded when one of them
    changes. Fields that extra parameters are merged into stay values."""
    cache: RenderCache | None = request.cache
    if cache is None or request.settings.extra:
        return build(request)
    depends_on = (request.settings, request.tools, request.quirks, request.model, request.context_size)
    if cache.frame_of != depends_on:
        cache.frame_of = (request.settings, list(request.tools), *depends_on[2:])
        frame_of = (build, request.provider, *cache.frame_of)
        cache.frame = _frames.find(frame_of) or _frames.add(frame_of, _encode_fields(build(request)))
    return cache.frame


_frames = RecentResults[JsonObject]()


def _encode_fields(fields: JsonObject) -> JsonObject:
    return {name: msgspec.Raw(encode(value)) for name, value in fields.items()}


Write = Callable[[Message, History, list[JsonObject]], None]
"""Encodes one repaired message and adds it to the items."""


def render(
    request: TurnRequest,
    wire: str,
    write: Write,
    *,
    make_legal: Callable[[str], str] = legal_name,
    user_first: bool = False,
    form: object = None,
) -> list[JsonObject]:
    """Encode the messages of a request for a wire. Only those that the cache does not hold are encoded. With another
    `form` than before, all are.

    With a cache, its items are returned as bytes, which the request includes as they are.
    """
    messages = request.messages
    cache: RenderCache = request.cache or RenderCache()
    done = len(cache.source)
    answered_history = cache.history
    if (
        answered_history is None
        or answered_history.origin != (wire, request.provider, request.model)
        or cache.source != messages[:done]
        or cache.form != form
    ):
        answered_history = cache.history = History(wire, request.provider, request.model, make_legal)
        cache.form, cache.source, cache.items, cache.encoded, done = form, [], [], [], 0
    answered, number = answered_history.extend_answered(messages[done:])
    _write_all(answered, answered_history, cache.items, write, user_first)
    cache.source = messages[: done + number]
    items = list(cache.items)
    if done + number < len(messages):
        history = answered_history.copy()
        _write_all(history.extend(messages[done + number :]), history, items, write, user_first)
    if request.cache is None:
        return items
    cache.encode_stable()
    return [*cache.encoded, *items[len(cache.encoded) :]]


def _write_all(
    messages: list[Message], history: History, items: list[JsonObject], write: Write, user_first: bool
) -> None:
    for message in messages:
        if user_first and not items and message.role != "user":
            write(_OPENING, history, items)
        write(message, history, items)
