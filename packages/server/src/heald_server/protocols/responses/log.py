"""Responses in the logs of sessions: found by their ids, read up to their end, and listed by their items.

The id of a response names its session and the event `response_requested`; the events after it are the response. So a
response survives a restart, and every reader gets the same frames.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from heald.core.client_events import ResponseRequested
from heald.core.events import ApprovalRequested, ExchangeRequest, SessionRewound
from heald.core.json import JsonObject, as_object, as_objects, loads
from heald.core.messages import Message, ToolResult
from heald.sessions.history import read_history
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald_server.context import ServerContext
from heald_server.dialects.frame import Frame
from heald_server.held_elsewhere import HeldElsewhere
from heald_server.http.errors import ApiError
from heald_server.protocols.responses.dialect import ResponsesDialect
from heald_server.protocols.responses.items import response_id
from heald_server.protocols.responses.tool_parameters import has_approvals, tool_label
from heald_server.protocols.shared.place_ids import parse_place_id
from heald_server.streams.event_hub import EncodedEvent
from heald_server.streams.exchange_frames import ExchangeFrames, ExchangePart
from heald_server.streams.log_tail import catch_up

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A response and the place of its request in a log."""

    info: SessionInfo
    seq: int
    request: ResponseRequested

    @property
    def id(self) -> str:
        return response_id(self.info.id, self.seq)

    def dialect(self) -> ResponsesDialect:
        parameters = self.request.parameters
        return ResponsesDialect(
            self.info.id,
            response=self.id,
            parameters={name: value for name, value in parameters.items() if name != "show_tools"},
            tool_label=tool_label(parameters),
            approvals=has_approvals(parameters),
            final_only=_format_of(parameters) != "text",
            resumable=False,
            unattended=not self.is_joined,
        )

    @property
    def is_joined(self) -> bool:
        """Whether another client had begun the exchange, and can be asked too."""
        return self.request.begin is not None


def _format_of(parameters: JsonObject) -> object:
    return as_object(as_object(parameters.get("text")).get("format")).get("type", "text")


class LaterFrames(ExchangeFrames):
    """The frames of a response whose sequence numbers come after a given one."""

    def __init__(self, frames: ExchangeFrames, after: int) -> None:
        super().__init__(frames.dialect, frames.part)
        self._after = after

    def begin(self) -> list[Frame]:
        return self._later(super().begin())

    def feed(self, entries: Sequence[EncodedEvent]) -> list[Frame]:
        return self._later(super().feed(entries))

    def _later(self, frames: list[Frame]) -> list[Frame]:
        return [frame for frame in frames if as_object(frame.data).get("sequence_number", 0) > self._after]


async def find_response(context: ServerContext, owner: str, name: str, param: str | None = None) -> StoredResponse:
    """Find a response of an owner. Raises `ApiError` if it does not exist or was deleted."""
    requested = await _find_payload(context, owner, name, "resp_", ResponseRequested)
    if requested is None or requested[1] in SessionSettings.of(requested[0].settings).deleted_responses:
        raise ApiError("not_found", f"There is no response {name[:100]!r}.", param=param)
    return StoredResponse(*requested)


async def find_response_of(context: ServerContext, info: SessionInfo, exchange: str) -> StoredResponse | None:
    """The first response of an exchange, if a client asked for one."""
    async for event in iterate_events(context.sessions.store, info.id):
        if isinstance(event.data, ResponseRequested) and event.data.exchange == exchange:
            return StoredResponse(info, event.seq, event.data)
    return None


async def find_approval(context: ServerContext, owner: str, name: str) -> tuple[SessionInfo, str]:
    """Find an approval by the id of its item: its session and its own id. Raises `ApiError` if there is none."""
    requested = await _find_payload(context, owner, name, "mcpr_", ApprovalRequested)
    if requested is None:
        raise ApiError("not_found", f"There is no approval request {name[:100]!r}.", param="input")
    return requested[0], requested[2].approval


async def _find_payload(
    context: ServerContext, owner: str, name: str, prefix: str, kind: type[T]
) -> tuple[SessionInfo, int, T] | None:
    """Find the event that the id of an item names: its session, its seq and its payload."""
    place = parse_place_id(name) if name.startswith(prefix) else None
    if place is None or place[1] < 1:
        return None
    try:
        info = await context.open_sessions.find_info(owner, place[0])
    except ApiError:
        return None
    for event in await context.sessions.store.read(info.id, after=place[1] - 1, limit=1):
        if isinstance(event.data, kind):
            return info, event.seq, event.data
    return None


async def open_frames(context: ServerContext, response: StoredResponse) -> ExchangeFrames:
    """The frames of a response, from its first one on."""
    dialect, request, seq = response.dialect(), response.request, response.seq
    if request.continues:
        await catch_up(dialect, context.sessions.store, response.info.id, seq)
    part = ExchangePart(
        request.exchange,
        seq if request.begin is None else request.begin,
        pause_from=seq if response.is_joined else seq + 1,
        is_continued=request.continues,
        answered=dialect.waiting_calls,
    )
    return ExchangeFrames(dialect, part)


@dataclass(frozen=True, slots=True)
class ReadResponse:
    """A response as far as it is stored."""

    dialect: ResponsesDialect
    end: int | None
    """The seq of its last event; None while it runs."""

    @property
    def is_paused(self) -> bool:
        """Whether it ended with calls or approvals for the client, and not with its exchange."""
        return self.end is not None and self.dialect.is_waiting


async def read_response(context: ServerContext, response: StoredResponse) -> ReadResponse:
    """Read a response from the log. A writer that crashed before its end is noticed, and the response ended."""
    read = await _read(context, response)
    if read.end is None and context.open_sessions.find_open(response.info.id) is None:
        with suppress(HeldElsewhere):  # another node works in it
            async with context.open_sessions.use(response.info):  # opening a session ends what a crash interrupted
                read = await _read(context, response)
    return read


async def _read(context: ServerContext, response: StoredResponse) -> ReadResponse:
    frames = await open_frames(context, response)
    dialect = frames.dialect
    assert isinstance(dialect, ResponsesDialect)
    frames.begin()
    async for event in iterate_events(context.sessions.store, response.info.id, after=frames.part.begin):
        frames.feed([EncodedEvent(event, b"")])
        if frames.is_done:
            return ReadResponse(dialect, event.seq)
    return ReadResponse(dialect, None)


async def is_last(context: ServerContext, response: StoredResponse, end: int) -> bool:
    """Whether nothing was asked in the session after a response."""
    async for event in iterate_events(context.sessions.store, response.info.id, after=end):
        is_request = isinstance(event.data, ExchangeRequest | ResponseRequested | SessionRewound)
        if is_request and event.seq != response.seq:
            return False
    return True


async def history_at(
    context: ServerContext, response: StoredResponse, end: int
) -> tuple[list[Message], list[ToolResult]]:
    """The conversation at the end of a response, and the results that calls of its last message have by then."""
    settings = SessionSettings.of(response.info.settings)
    messages = (await read_history(context.sessions.store, response.info.id, settings, upto=end)).state.messages
    calls = {call.id for call in messages[-1].tool_calls} if messages else set[str]()
    results: list[ToolResult] = []
    if calls:
        events = iterate_events(context.sessions.store, response.info.id, upto=end)
        results = [
            event.data async for event in events if isinstance(event.data, ToolResult) and event.data.id in calls
        ]
    return list(messages), results


async def other_requests(context: ServerContext, response: StoredResponse) -> int:
    """Count the requests of a session beside a response, those of deleted responses left out."""
    deleted = SessionSettings.of(response.info.settings).deleted_responses
    exchanges: set[str] = set()
    others = 0
    async for event in iterate_events(context.sessions.store, response.info.id):
        match event.data:
            case ResponseRequested(exchange=exchange):
                exchanges.add(exchange)
                others += event.seq != response.seq and event.seq not in deleted
            case ExchangeRequest() if event.exchange not in exchanges:
                others += 1
            case _:
                pass
    return others


async def read_input_items(context: ServerContext, response: StoredResponse) -> list[JsonObject]:
    """The input items of a response as the client sent them."""
    return as_objects(loads(await context.sessions.store.blob(response.info.id, response.request.input)))


async def read_output_items(context: ServerContext, info: SessionInfo) -> dict[str, JsonObject]:
    """The output items of all responses of a session, by their ids."""
    items: dict[str, JsonObject] = {}
    frames: ExchangeFrames | None = None
    async for event in iterate_events(context.sessions.store, info.id):
        if isinstance(event.data, ResponseRequested):
            _collect_items(frames, items)
            frames = await open_frames(context, StoredResponse(info, event.seq, event.data))
            frames.begin()
            async for earlier in iterate_events(
                context.sessions.store, info.id, after=frames.part.begin, upto=event.seq
            ):
                frames.feed([EncodedEvent(earlier, b"")])
        elif frames is not None:
            frames.feed([EncodedEvent(event, b"")])
    _collect_items(frames, items)
    return items


def _collect_items(frames: ExchangeFrames | None, items: dict[str, JsonObject]) -> None:
    if frames is not None and isinstance(frames.dialect, ResponsesDialect):
        items |= {str(item["id"]): item for item in frames.dialect.response["output"]}
