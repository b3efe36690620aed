"""Continues an exchange that waits for the client: approvals, questions, and tools that the client runs."""

from collections.abc import Callable, Sequence

from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ClientToolRequested, ExchangeRequest, QuestionAsked
from heald.core.messages import ToolResult
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.store import iterate_events
from heald.tools.client_results import parse_client_result
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.dialects.exchange_dialect import ExchangeDialect
from heald_server.protocols.shared.client_answers import ClientAnswers
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_sessions import list_sessions
from heald_server.streams.exchange_frames import ExchangeFrames, ExchangePart

_ENDED_WITHOUT = ("timeout", "cancelled", "interrupted")


async def continue_conversation(
    context: ServerContext,
    conversation: ClientConversation,
    answers: ClientAnswers,
    open_dialect: Callable[[str], ExchangeDialect],
) -> tuple[SessionInfo, ExchangeFrames] | None:
    """Continue the exchange that waits for these answers, in the newest session that has one; None if there is none."""
    for info in reversed(await list_sessions(context, conversation)):
        dialect = open_dialect(info.id)
        part = await continue_exchange(context, info, answers, dialect)
        if part is not None:
            return info, ExchangeFrames(dialect, part)
    return None


async def continue_exchange(
    context: ServerContext, info: SessionInfo, answers: ClientAnswers, dialect: ExchangeDialect
) -> ExchangePart | None:
    """Resolve what the session's last exchange waits for. Returns the part that follows, or None if the answers are
    not for it.

    The dialect is fed the events up to the pause at which the client got its last response. Answers that were given
    before are left out, so that a request can be repeated.
    """
    for content in answers.results.values():
        parse_client_result(content.content, content.is_error)  # raises before anything is resolved
    async with context.open_sessions.use(info, moves_waiting=True) as session:
        await session.flush()
        events = await last_exchange(context, info)
        requested = {name: event.seq for event in events if (name := _requested(event)) in answers.ids}
        if not requested or any(_is_too_late(event, answers) for event in events):
            return None
        begin = _feed_to_pause(dialect, events, max(requested.values()))
        resolve_answers(session, answers, Caller(info.owner).name)
        answered = frozenset(requested) & frozenset(answers.results)
        exchange = events[0].exchange or ""
        return ExchangePart(exchange, begin, pause_from=begin + 1, is_continued=True, answered=answered)


def _requested(event: Event) -> str:
    match event.data:
        case ApprovalRequested(approval=name) | ClientToolRequested(id=name) | QuestionAsked(question=name):
            return name
        case _:
            return ""


def _is_too_late(event: Event, answers: ClientAnswers) -> bool:
    """Whether a call of the client's tools ended without the client's result."""
    result = event.data
    return isinstance(result, ToolResult) and result.id in answers.results and result.status in _ENDED_WITHOUT


async def last_exchange(context: ServerContext, info: SessionInfo) -> list[Event]:
    """The events of the last exchange of a session so far."""
    events: list[Event] = []
    async for event in iterate_events(context.sessions.store, info.id):
        if isinstance(event.data, ExchangeRequest):
            events = []
        events.append(event)
    return [event for event in events if events[0].exchange is not None and event.exchange == events[0].exchange]


async def last_part(context: ServerContext, info: SessionInfo) -> ExchangePart | None:
    """The last exchange of a session from its beginning, up to its end or to where it waits now; None if there is none.

    It may run on another node. A client may come back to it as often as it likes.
    """
    session = context.open_sessions.find_open(info.id)
    if session is not None:
        await session.flush()
    events = await last_exchange(context, info)
    if not events:
        return None
    return ExchangePart(events[0].exchange or "", 0, pause_from=events[-1].seq)


def _feed_to_pause(dialect: ExchangeDialect, events: Sequence[Event], requested: int) -> int:
    """Feed a dialect up to the pause after a request, and return its seq."""
    for event in events:
        dialect.feed(event)
        if event.seq >= requested and dialect.is_waiting:
            return event.seq
    return requested


def resolve_answers(session: Session, answers: ClientAnswers, by: str) -> None:
    """Give the running exchange the client's decisions, answers and results. `by` is the name of the caller, for the
    log."""
    for approval in session.approvals:
        decision = answers.decisions.get(approval.approval)
        if decision is None:
            continue
        if decision.approved:
            session.approve(approval.approval, arguments=decision.arguments, by=by)
        else:
            session.deny(approval.approval, decision.reason, by=by)
    for question in session.questions:
        if question.question in answers.answers:
            session.answer(question.question, answers.answers[question.question])
    for call in session.client_calls:
        result = answers.results.get(call.id)
        if result is not None:
            session.send_tool_result(call.id, result.content, result.is_error)
