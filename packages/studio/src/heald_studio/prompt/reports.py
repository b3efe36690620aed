"""Reports on the requests that the variants of projects sent to models, read from their logs.

A report has the conversation as the model got it in one turn, and the usage of that turn.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import msgspec

from heald.core.errors import HealdError, NotFound
from heald.core.events import AssistantMessage, MessageDelta, MessageStart, UserMessage
from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolResult
from heald.core.turn import Usage
from heald.providers.list_price import price
from heald.providers.model import Model
from heald.providers.resolve import find
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import Store, iterate_events
from heald.sessions.store_errors import NoSuchSession
from heald_studio.projects.versions import VARIANT_SESSION

_MOST_SESSIONS = 40


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
    sent_messages = [msgspec.structs.replace(message, native=None, structured=None) for message in messages]
    request: JsonObject = {
        "model": model,
        "system": settings.instructions,
        "tools": settings.tools,
        "messages": msgspec.to_builtins(sent_messages),
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
    except HealdError:
        return None
    return price(model, usage).usd if isinstance(model, Model) else None
