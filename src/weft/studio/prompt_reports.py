"""Reports on the requests that the variants of projects sent to models, read from their logs.

A report has the conversation as the model got it in one turn, and the usage of that turn. Two requests are compared up
to their first difference, which is where a cache of prompts ends.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from weft.core.errors import NotFound, WeftError
from weft.core.events import AssistantMessage, MessageDelta, MessageStart, UserMessage
from weft.core.json import JsonObject, encode, loads
from weft.core.messages import Message, ToolResult
from weft.core.turn import Usage
from weft.providers.catalogue import price
from weft.providers.factory import find
from weft.providers.model import Model
from weft.sessions.settings import SessionSettings
from weft.sessions.store import NoSuchSession, SessionInfo, Store, iterate_events
from weft.studio.request import BadInput
from weft.studio.versions import VARIANT_SESSION

_MOST_SESSIONS = 40
_MAX_SUMMARY = 120


class ReportUsage(msgspec.Struct, frozen=True, kw_only=True):
    input_tokens: int
    output_tokens: int
    cache_read: int
    cache_write: int
    total_tokens: int
    cache_hit_rate_percent: float
    cost_usd: float | None


class ReportSummary(msgspec.Struct, frozen=True, kw_only=True):
    filename: str
    provider: str
    model: str
    created_at: str
    session_id: str
    turn: int
    size_bytes: int
    cost_usd: float | None


class PromptReport(msgspec.Struct, frozen=True, kw_only=True):
    provider: str
    model: str
    api_model_name: str
    session_id: str
    turn: int
    created_at: str
    request: JsonObject
    usage: ReportUsage | None


class NoSuchReport(NotFound):
    def __init__(self, name: str) -> None:
        super().__init__(f"There is no report {name[:100]!r}; list the reports to see which there are.")


async def list_reports(store: Store, owner: str) -> list[ReportSummary]:
    """Return the reports of the last changed variants of an owner."""
    page = await store.list(owner=owner, kind=VARIANT_SESSION, limit=_MOST_SESSIONS)
    return [
        ReportSummary(
            filename=f"{report.session_id}.{report.turn}.json",
            provider=report.provider,
            model=report.model,
            created_at=report.created_at,
            session_id=report.session_id,
            turn=report.turn,
            size_bytes=len(encode(report)),
            cost_usd=report.usage.cost_usd if report.usage is not None else None,
        )
        for info in page.sessions
        async for report in _read_reports(store, info)
    ]


async def find_report(store: Store, owner: str, name: str) -> PromptReport:
    """Find a report by the name of its file. Raises NoSuchReport."""
    session, _, turn = name.removesuffix(".json").rpartition(".")
    try:
        info = await store.info(session)
    except NoSuchSession:
        raise NoSuchReport(name) from None
    if info.owner == owner and info.kind == VARIANT_SESSION:
        async for report in _read_reports(store, info):
            if str(report.turn) == turn:
                return report
    raise NoSuchReport(name)


async def _read_reports(store: Store, info: SessionInfo) -> AsyncIterator[PromptReport]:
    """Yield the turns of a session, in order. A turn whose answer has not ended has no usage."""
    settings = SessionSettings.of(info.settings)
    messages = [*settings.history]
    results: list[ToolResult] = []
    open_turn: PromptReport | None = None
    turn = 0
    async for event in iterate_events(store, info.id):
        match event.data:
            case UserMessage(message=message) | AssistantMessage(message=message):
                messages.append(message)
            case ToolResult() as result:
                results.append(result)
            case MessageStart(model=model):
                if results:
                    messages.append(Message(role="tool", content=list(results)))
                    results = []
                if open_turn is not None:
                    yield open_turn
                turn += 1
                open_turn = _begin_report(info.id, settings, messages, model, turn, event.time)
            case MessageDelta(usage=usage) if open_turn is not None:
                yield msgspec.structs.replace(open_turn, usage=_usage(open_turn.model, usage))
                open_turn = None
            case _:
                pass
    if open_turn is not None:
        yield open_turn


def _begin_report(
    session: str, settings: SessionSettings, messages: list[Message], model: str, turn: int, time: float
) -> PromptReport:
    named = settings.model or model
    shown = [msgspec.structs.replace(message, native=None, design=None) for message in messages]
    request: JsonObject = {
        "model": model,
        "system": settings.instructions,
        "tools": settings.tools,
        "messages": msgspec.to_builtins(shown),
    }
    return PromptReport(
        provider=named.partition("/")[0],
        model=named,
        api_model_name=model,
        session_id=session,
        turn=turn,
        created_at=datetime.fromtimestamp(time, UTC).isoformat(),
        request=request,
        usage=None,
    )


def _usage(model: str, usage: Usage) -> ReportUsage:
    whole = usage.total_input or 0
    output = usage.total_output or 0
    return ReportUsage(
        input_tokens=usage.input or 0,
        output_tokens=output,
        cache_read=usage.cache_read or 0,
        cache_write=usage.cache_write or 0,
        total_tokens=whole + output,
        cache_hit_rate_percent=round(100 * (usage.cache_read or 0) / whole, 1) if whole else 0.0,
        cost_usd=_cost(model, usage),
    )


def _cost(name: str, usage: Usage) -> float | None:
    try:
        model = find(name)
    except WeftError:
        return None
    return price(model, usage).usd if isinstance(model, Model) else None


class InputDifference(msgspec.Struct, frozen=True, kw_only=True):
    item_index: int
    path: str
    """From the item on, such as `input[2].content[0].text`."""
    left_summary: str
    right_summary: str
    left_value: Any
    """null where this side has nothing."""
    right_value: Any


class InputComparison(msgspec.Struct, frozen=True, kw_only=True):
    common_prefix_items: int
    left_item_count: int
    right_item_count: int
    difference: InputDifference | None
    formatted: str


def compare_inputs(left: str, right: str) -> InputComparison:
    """Compare two requests as JSON, or their `input` or `messages` alone. Raises BadInput if one cannot be read."""
    first, second = _read_items(left, "left"), _read_items(right, "right")
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    difference = None
    if same < max(len(first), len(second)):
        one, other = (side[same] if same < len(side) else None for side in (first, second))
        path, one, other = _find_path(one, other, f"input[{same}]")
        difference = InputDifference(
            item_index=same,
            path=path,
            left_summary=_summary(one),
            right_summary=_summary(other),
            left_value=one,
            right_value=other,
        )
    return InputComparison(
        common_prefix_items=same,
        left_item_count=len(first),
        right_item_count=len(second),
        difference=difference,
        formatted=_format(same, len(first), len(second), difference),
    )


def _read_items(text: str, side: str) -> list[Any]:
    try:
        value = loads(text.encode())
    except (ValueError, RecursionError):
        raise BadInput(f"The {side} side is no JSON; paste a request, or its input.", "not_text") from None
    if isinstance(value, Mapping):
        request = cast("Mapping[str, Any]", value)
        value = request.get("input", request.get("messages"))
    if not isinstance(value, list):
        raise BadInput(f"The {side} side has no list of input; paste a request, or its input.", "not_text")
    return cast("list[Any]", value)


def _find_path(left: Any, right: Any, path: str) -> tuple[str, Any, Any]:
    """Descend to the first value that differs, in the order of the left side."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        one, other = cast("Mapping[str, Any]", left), cast("Mapping[str, Any]", right)
        for name in dict.fromkeys([*one, *other]):
            if name not in one or name not in other or one[name] != other[name]:
                return _find_path(one.get(name), other.get(name), f"{path}.{name}")
    if isinstance(left, list) and isinstance(right, list):
        first, second = cast("Sequence[Any]", left), cast("Sequence[Any]", right)
        for at in range(max(len(first), len(second))):
            values = [side[at] if at < len(side) else None for side in (first, second)]
            if at >= min(len(first), len(second)) or values[0] != values[1]:
                return _find_path(values[0], values[1], f"{path}[{at}]")
    return path, cast("Any", left), cast("Any", right)


def _summary(value: Any) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SUMMARY else f"{text[:_MAX_SUMMARY]}… ({len(text):,} characters)"


def _format(same: int, left: int, right: int, difference: InputDifference | None) -> str:
    counts = f"{same} items are equal from the beginning; left has {left}, right has {right}."
    if difference is None:
        return f"{counts}\nThe inputs are equal."
    found = f"The first difference is at {difference.path}."
    return f"{counts}\n{found}\nleft:  {difference.left_summary}\nright: {difference.right_summary}"
