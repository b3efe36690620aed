"""Finds the session that a client's conversation continues, and starts or continues an exchange in it.

Clients of other protocols keep the conversation and send it with every request. The session of that name continues as
long as both sides hold the same conversation; if the client went back to an earlier point, the session is rewound to
it; otherwise a new session begins with the client's messages as its history.
"""

from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256

import msgspec

from weft.agent.exchange import Exchange
from weft.agent.result import SchemaShape
from weft.core.envelope import Event
from weft.core.errors import ConfigurationError
from weft.core.events import (
    ApprovalRequested,
    ClientToolRequested,
    ExchangeRequest,
    ExchangeResponse,
    QuestionAsked,
)
from weft.core.json import encode
from weft.core.messages import Message, ToolDefinition, ToolResult
from weft.dialects.dialect import ExchangeDialect
from weft.dialects.ui_messages import ClientAnswers
from weft.server.context import ServerContext
from weft.server.conversation import Accepted, cancel_exchange, start_exchange
from weft.server.errors import ApiError
from weft.server.sse import ExchangeFrames, ExchangePart
from weft.sessions.history import SessionHistory
from weft.sessions.session import Session
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionExists, SessionInfo, iterate_events
from weft.tools.client_tools import parse_client_result

MAX_SESSIONS = 100
"""Sessions of one conversation: a new one begins when the client's messages fit none of the others."""


_ENDED_WITHOUT = ("timeout", "cancelled", "interrupted")


class ClientConversation(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation that a client sends with its request."""

    owner: str
    kind: str
    """The protocol of the client."""
    name: str | None = None
    """The client's name for the conversation."""
    history: list[Message] = []
    system: list[str] = []
    model: str = ""
    tools: list[ToolDefinition] | None = None
    """The client's own tools; None if its requests do not name them."""
    hidden_tools: tuple[str, ...] = ()
    """Names of tools that a session of this kind does without."""
    is_kept: bool = True
    """Its session is stored and counts as one that the owner made."""


# --- comparing -------------------------------------------------------------------------------------------------------


def exchanged_texts(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """The texts of the user and of the assistant, request by request and without white space.

    Clients join the texts of several turns in their own ways and do not all store calls and thinking.
    """
    pairs: list[tuple[str, str]] = []
    for message in messages:
        text = "".join(message.words.split())
        if message.role == "user":
            pairs.append((text, ""))
        elif message.role == "assistant" and text:
            asked, answered = pairs.pop() if pairs else ("", "")
            pairs.append((asked, answered + text))
    return pairs


def is_same_conversation(theirs: Sequence[tuple[str, str]], ours: Sequence[tuple[str, str]]) -> bool:
    """Whether a client's texts are those of a session.

    Requests are equal. An answer that broke off is the beginning of ours, one after a dropped attempt ends with ours,
    and a client that keeps the last turn of an answer has the end of ours.
    """
    return len(theirs) == len(ours) and all(
        asked == known and _is_same_answer(answered, answer)
        for (asked, answered), (known, answer) in zip(theirs, ours, strict=True)
    )


def _is_same_answer(theirs: str, ours: str) -> bool:
    return not ours or ours.startswith(theirs) or theirs.endswith(ours) or ours.endswith(theirs)


# --- finding ---------------------------------------------------------------------------------------------------------


def session_name(conversation: ClientConversation, number: int = 0) -> str:
    """The id of a conversation's session: the same for the same name of an owner, also after a restart."""
    parts = [conversation.owner, conversation.kind, conversation.name or ""]
    if number:
        parts.append(str(number))
    return f"ses_{sha256(encode(parts)).hexdigest()[:32]}"


async def list_sessions(context: ServerContext, conversation: ClientConversation) -> list[SessionInfo]:
    """The sessions of a conversation, the newest last."""
    found: list[SessionInfo] = []
    if conversation.name is None:
        return found
    for number in range(MAX_SESSIONS):
        try:
            name = session_name(conversation, number)
            found.append(await context.open_sessions.find_info(conversation.owner, name))
        except ApiError:
            break
    return found


async def find_or_create_session(
    context: ServerContext, conversation: ClientConversation, *, rewinds: bool = False, fresh: bool = False
) -> SessionInfo:
    """Find the session that continues a conversation, or create one, with `fresh` always.

    With `rewinds` the client went back on purpose.
    """
    known = await list_sessions(context, conversation)
    for info in reversed(known):
        if not fresh and await _fit_session(context, info, conversation, rewinds):
            return info
    number = len(known)
    name = session_name(conversation, number) if conversation.name is not None and number < MAX_SESSIONS else None
    return await create_session(context, conversation, name)


async def _fit_session(
    context: ServerContext, info: SessionInfo, conversation: ClientConversation, rewinds: bool
) -> bool:
    """Whether the session holds the client's conversation, if need be after it was rewound."""
    theirs = exchanged_texts(conversation.history)
    history = SessionHistory(SessionSettings.of(info.settings))
    earlier = 0 if is_same_conversation(theirs, exchanged_texts(history.state.messages)) else None
    async for event in iterate_events(context.sessions.store, info.id):
        history.feed(event)
        if isinstance(event.data, ExchangeResponse) and is_same_conversation(
            theirs, exchanged_texts(history.state.messages)
        ):
            earlier = event.seq
    if not rewinds and is_same_conversation(theirs, exchanged_texts(history.state.messages)):
        return True
    if earlier is None or not (rewinds or theirs):
        return False
    async with context.open_sessions.use(info, moves_waiting=True) as session:
        if session.engine.current is not None:
            if not rewinds:
                return False
            await end_current(session, "The client went back to an earlier message.")
        await session.rewind(earlier)
    return True


async def end_current(session: Session, reason: str) -> None:
    """Cancel the running exchange and wait for its end."""
    current = session.engine.current
    if current is not None:
        current.cancel(reason)
        await current.result()
        await session.flush()


async def create_session(
    context: ServerContext, conversation: ClientConversation, name: str | None = None
) -> SessionInfo:
    """Create a session whose history is the client's conversation."""
    if conversation.is_kept:
        context.meters.check_new_session(conversation.owner)
    settings = context.merge_settings({"model": conversation.model} if conversation.model else {})
    instructions = "\n\n".join([*([settings.instructions] if settings.instructions else []), *conversation.system])
    settings = msgspec.structs.replace(
        settings,
        history=conversation.history,
        instructions=instructions,
        tools=[tool for tool in settings.tools if tool not in conversation.hidden_tools],
    )
    try:
        return await context.sessions.create(owner=conversation.owner, session=name, **msgspec.structs.asdict(settings))
    except SessionExists:  # another request of the same conversation was faster
        if name is None:
            raise
        return await context.open_sessions.find_info(conversation.owner, name)


# --- starting --------------------------------------------------------------------------------------------------------


async def start_in_conversation(
    context: ServerContext,
    conversation: ClientConversation,
    message: Message,
    *,
    request_id: str | None = None,
    rewinds: bool = False,
    info: SessionInfo | None = None,
    output: SchemaShape | None = None,
    configure: Callable[[Session], Awaitable[None]] | None = None,
) -> tuple[SessionInfo, Accepted, Exchange]:
    """Start an exchange in the session of a conversation, or in `info`. A known `request_id` returns its exchange."""
    await context.meters.refresh(conversation.owner)
    context.meters.check_exchange(conversation.owner)
    request_id = request_id[:200] if request_id else None
    if request_id is not None:
        repeated = await _find_repeated(context, conversation, request_id)
        if repeated is not None:
            return repeated
    if info is None:  # results that no exchange waits for need a session whose history ends with their calls
        is_late = message.role == "tool"
        info = await find_or_create_session(context, conversation, rewinds=rewinds, fresh=is_late)
    async with context.open_sessions.use(info, moves_waiting=True) as session:
        await end_waiting(session)
        if conversation.tools is not None and session.runtime.client_tools != conversation.tools:
            await session.set_client_tools(conversation.tools)
        if configure is not None:
            await configure(session)
        accepted, exchange = await start_exchange(context, info, message, request_id, output=output)
    return info, accepted, exchange


async def end_waiting(session: Session) -> None:
    """Cancel the running exchange if it waits for a client that has sent another request instead."""
    if session.client_calls or session.approvals:
        await end_current(session, "The client went on without an answer.")


async def _find_repeated(
    context: ServerContext, conversation: ClientConversation, request_id: str
) -> tuple[SessionInfo, Accepted, Exchange] | None:
    """The exchange that an earlier request with the same id started."""
    for info in reversed(await list_sessions(context, conversation)):
        async with context.open_sessions.use(info, moves_waiting=True) as session:
            known = session.engine.find(request_id)
            if known is not None:
                return info, Accepted(known.id, "repeated", 0), known
    return None


async def first_part(context: ServerContext, info: SessionInfo, accepted: Accepted) -> ExchangePart:
    """The part of an exchange that the response to its request holds. A repeated response begins where the first one
    began, and does not pause where the client has answered since."""
    if accepted.state != "repeated":
        return ExchangePart(accepted.exchange, info.last_seq, pause_from=0)
    last = (await context.sessions.store.info(info.id)).last_seq
    return ExchangePart(accepted.exchange, 0, pause_from=last)


async def cancel_conversation(context: ServerContext, conversation: ClientConversation) -> bool:
    """Cancel what runs in the sessions of a conversation. Returns whether anything did."""
    done = [
        (await cancel_exchange(context, info, None, "The user stopped it.")).cancelled
        for info in await list_sessions(context, conversation)
    ]
    return any(done)


# --- continuing ------------------------------------------------------------------------------------------------------


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
        resolve_answers(session, answers)
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


def _feed_to_pause(dialect: ExchangeDialect, events: Sequence[Event], requested: int) -> int:
    """Feed a dialect up to the pause after a request, and return its seq."""
    for event in events:
        dialect.feed(event)
        if event.seq >= requested and dialect.is_waiting:
            return event.seq
    return requested


def resolve_answers(session: Session, answers: ClientAnswers) -> None:
    """Give the running exchange the client's decisions, answers and results."""
    for approval in session.approvals:
        decision = answers.decisions.get(approval.approval)
        if decision is None:
            continue
        if decision.approved:
            session.approve(approval.approval, arguments=decision.arguments)
        else:
            session.deny(approval.approval, decision.reason)
    for question in session.questions:
        if question.question in answers.answers:
            session.answer(question.question, answers.answers[question.question])
    for call in session.client_calls:
        result = answers.results.get(call.id)
        if result is not None:
            session.send_tool_result(call.id, result.content, result.is_error)


def require_model(context: ServerContext, name: str) -> str:
    """Return the model that a client names, if sessions may use it. "weft" stands for the default."""
    if name in ("", "weft"):
        return ""
    try:
        context.models.open(name)
    except ConfigurationError as error:
        raise ApiError("not_found", str(error)) from None
    return name
