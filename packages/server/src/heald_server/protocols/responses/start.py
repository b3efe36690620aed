"""Starts and continues responses: finds the session of a request, and begins or continues an exchange in it."""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import time

import msgspec

from heald.agent.interface import ExchangeInterface
from heald.core.client_events import ResponseRequested
from heald.core.envelope import Event
from heald.core.events import ExchangeRequest
from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolResult
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.sessions.store import iterate_events
from heald.tools.client_results import parse_client_result
from heald_server.access.caller import Caller
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.protocols.responses.connection_responses import ConnectionResponses
from heald_server.protocols.responses.input_items import ResponseInput, read_input
from heald_server.protocols.responses.log import (
    ReadResponse,
    StoredResponse,
    find_approval,
    find_response,
    find_response_of,
    history_at,
    is_last,
    read_output_items,
    read_response,
)
from heald_server.protocols.responses.request import ResponseRequest
from heald_server.protocols.responses.tool_parameters import has_approvals
from heald_server.protocols.shared.client_answers import ClientAnswers, ClientResult
from heald_server.protocols.shared.client_bodies import convert_messages, with_all_results
from heald_server.protocols.shared.client_call_ids import find_answered_calls
from heald_server.protocols.shared.client_conversation import ClientConversation
from heald_server.protocols.shared.conversation_answers import resolve_answers
from heald_server.protocols.shared.conversation_sessions import (
    create_session,
    find_ending_with,
    find_or_create_session,
    list_sessions,
)
from heald_server.protocols.shared.conversation_start import (
    choose_precedence,
    end_waiting,
    lock_conversation,
    offer_client_tools,
)
from heald_server.protocols.shared.conversation_texts import exchanged_texts, is_same_conversation
from heald_server.protocols.shared.place_ids import parse_place_id
from heald_server.protocols.shared.v1_parameters import refusal
from heald_server.protocols.shared.v1_sessions import V1Sessions as OpenAISessions
from heald_server.protocols.shared.v1_sessions import cancel_unwatched, configure_session
from heald_server.session_request import deps_of
from heald_server.start_exchange import admit_exchange

KIND = "responses"
_OUTPUT = ("item_reference", "reasoning", "function_call", "mcp_call")
"""Types of items that a client has from a response, beside messages of the assistant."""
_NOBODY = "Nobody can be asked over /v1/responses."


@dataclass(frozen=True, slots=True)
class StartedResponse:
    """A response whose request is stored."""

    context: ServerContext
    response: StoredResponse
    exchange: ExchangeInterface | None
    """None for an exchange that another client began."""
    is_stored: bool

    def disconnect(self) -> None:
        """Cancel what a client that has gone asked for, unless another client watches it."""
        if self.exchange is not None:
            cancel_unwatched(self.context, self.response.info, self.exchange)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request for a response."""

    owner: str
    model: str
    request: ResponseRequest
    items: Sequence[JsonObject]
    read: ResponseInput
    previous: StoredResponse | None
    home: ServerContext
    """Where the previous response is."""
    name: str | None
    session: str | None
    key: str | None
    """Names the request, so that it is one exchange however often it is sent."""

    @property
    def system(self) -> list[str]:
        return [*([self.request.instructions] if self.request.instructions else []), *self.read.system]


class ResponseStarter:
    """Starts the responses of a server."""

    def __init__(self, context: ServerContext, sessions: OpenAISessions) -> None:
        self._context = context
        self._sessions = sessions

    async def start(
        self,
        owner: str,
        model: str,
        parameters: ResponseRequest,
        items: Sequence[JsonObject],
        name: str | None = None,
        session: str | None = None,
        connection: ConnectionResponses | None = None,
        key: str | None = None,
    ) -> StartedResponse:
        """Start a response. Returns once its request is stored. `name` and `session` are the client's name for the
        conversation that it sends, and our id of its session. A connection has responses that are not stored. A request
        with a known `key` returns the response that it has already.

        Without an input the response is the last exchange of the conversation, whichever client began it."""
        await self._context.meters.refresh(owner)
        self._context.meters.check_exchange(owner)
        previous, home = None, self._context
        if parameters.previous is not None:
            if connection is not None and connection.has_response(parameters.previous):
                home = self._context.in_memory()
            previous = await find_response(home, owner, parameters.previous, "previous_response_id")
        read = read_input(await self.resolve_references(owner, items))
        asked = _Asked(owner, model, parameters, items, read, previous, home, name, session, key)
        if not items and parameters.conversation is not None:
            return await self._join_last(asked)
        has_results = bool(read.messages) and read.messages[-1]["role"] == "tool"
        if has_results or read.decisions:
            continued = await self._continue(asked)
            if continued is not None:
                return continued
        if read.decisions:
            raise ApiError("conflict", "No approval waits for this answer any more; ask again.", param="input")
        started = await self._begin(asked)
        if connection is None and not parameters.is_stored and started.exchange is not None:
            self._sessions.delete_later(started.exchange, started.response.info)
        return started

    async def resolve_references(self, owner: str, items: Sequence[JsonObject]) -> list[JsonObject]:
        """Replace references by the items that earlier responses returned."""
        items_by_session: dict[str, dict[str, JsonObject]] = {}
        resolved: list[JsonObject] = []
        for item in items:
            if item.get("type") != "item_reference":
                resolved.append(item)
                continue
            name = str(item.get("id"))
            place = parse_place_id(name)
            session = place[0] if place is not None else ""
            if session not in items_by_session:
                items_by_session[session] = await self._items_of(owner, session)
            if name not in items_by_session[session]:
                raise refusal("input", f"There is no item {name[:100]!r}; send the item itself.")
            resolved.append(items_by_session[session][name])
        return resolved

    async def _items_of(self, owner: str, session: str) -> dict[str, JsonObject]:
        for context in (self._context, self._context.in_memory()):
            try:
                info = await context.open_sessions.find_info(owner, session)
            except ApiError:
                continue
            return await read_output_items(context, info)
        return {}

    # --- continuing --------------------------------------------------------------------------------------------------

    async def _continue(self, asked: _Asked) -> StartedResponse | None:
        """Give the client's results and decisions to the exchange that waits for them; None if none does."""
        read, previous = asked.read, asked.previous
        results: dict[str, ClientResult] = {}
        if read.messages and read.messages[-1]["role"] == "tool":
            for block in _convert(read.messages[-1:])[0].content:
                if isinstance(block, ToolResult):
                    results[block.id] = ClientResult(block.content, bool(block.is_error))
        context = asked.home if asked.request.is_stored or previous is not None else self._context.in_memory()
        approvals = [
            (*await find_approval(context, asked.owner, name), answer) for name, answer in read.decisions.items()
        ]
        decisions = {approval: decision for _, approval, decision in approvals}
        candidates = [info.id for info, _, _ in approvals]
        calls = await find_answered_calls(context, asked.owner, results)
        if calls is not None and (previous is None or previous.info.id == calls.info.id):
            candidates.append(calls.info.id)
            results = {calls.ids[name]: result for name, result in results.items()}
        elif previous is not None:
            candidates.append(previous.info.id)
        answers = ClientAnswers(decisions=decisions, results=results)
        for name in dict.fromkeys(candidates):
            info = await context.sessions.store.info(name)
            if info.owner == asked.owner:
                started = await self._continue_in(context, info, asked, answers)
                if started is not None:
                    return started
        return None

    async def _continue_in(
        self, context: ServerContext, info: SessionInfo, asked: _Asked, answers: ClientAnswers
    ) -> StartedResponse | None:
        async with context.open_sessions.use(info) as session:
            await session.flush()
            current = session.current
            waiting = _waiting(session)
            if current is None or not waiting & answers.ids:
                return None
            if asked.previous is None and answers.results:
                theirs = exchanged_texts(_convert(asked.read.messages))
                if not is_same_conversation(theirs, exchanged_texts(session.messages)):
                    return None
            if missing := sorted(waiting - answers.ids):
                raise refusal("input", f"The call or approval {missing[0][:80]!r} has no answer; answer all of them.")
            for result in answers.results.values():
                parse_client_result(result.content, result.is_error)  # raises before anything is resolved
            digest = await self._prepare(context, info, session, asked)
            if session.current is not current or _waiting(session) != waiting:
                return None
            response = self._publish(session, info, asked, current.id, digest, continues=True)
            if not has_approvals(response.request.parameters):
                _refuse_questions(session, current)
            resolve_answers(session, answers, Caller(info.owner).name)
            await session.flush()
        return StartedResponse(context, response, current, context is self._context)

    # --- joining -----------------------------------------------------------------------------------------------------

    async def _join_last(self, asked: _Asked) -> StartedResponse:
        """Join the last exchange of the conversation that a request names."""
        for info in reversed(await list_sessions(self._context, self._conversation(asked, []))):
            joined = await self._join(asked, info)
            if joined is not None:
                return joined
        raise refusal("input", "Nothing was asked in this conversation yet; send an input.")

    async def _join(self, asked: _Asked, info: SessionInfo, exchange: str | None = None) -> StartedResponse | None:
        """Make an exchange that is in the log, the last one if none is named, a response; None if there is none."""
        context = self._context
        async with context.open_sessions.use(info) as session:
            await session.flush()
            requests = [
                event
                async for event in iterate_events(context.sessions.store, info.id)
                if isinstance(event.data, ExchangeRequest) and exchange in (None, event.exchange)
            ]
            if not requests:
                return None
            digest = await context.sessions.store.put_blob(info.id, encode(list(asked.items)))
            request = requests[-1]
            response = self._publish(session, info, asked, request.exchange or "", digest, begin=request.seq - 1)
            await session.flush()
        return StartedResponse(context, response, None, True)

    async def _find_repeated(self, asked: _Asked) -> StartedResponse | None:
        """The response to an earlier request with the same key."""
        if asked.key is None or not asked.request.is_stored:
            return None
        sessions = await list_sessions(self._context, self._conversation(asked, []))
        if asked.previous is not None:
            sessions.append(asked.previous.info)
        for info in reversed(sessions):
            async with self._context.open_sessions.use(info, moves_waiting=True) as session:
                exchange = session.find_request(asked.key)
            if exchange is None:
                continue
            response = await find_response_of(self._context, info, exchange.id)
            if response is None:  # the server ended between the two events of the request
                return await self._join(asked, info, exchange.id)
            return StartedResponse(self._context, response, exchange, True)
        return None

    # --- beginning ---------------------------------------------------------------------------------------------------

    async def _begin(self, asked: _Asked) -> StartedResponse:
        messages = _convert(asked.read.messages)
        context = self._context if asked.request.is_stored else self._context.in_memory()
        shape = await asyncio.to_thread(asked.request.output_shape)
        async with lock_conversation(self._conversation(asked, [])):
            repeated = await self._find_repeated(asked)
            if repeated is not None:
                return repeated
            info, message = await self._find_session(context, asked, messages)
            async with context.open_sessions.use(info) as session:
                await end_waiting(session)
                digest = await self._prepare(context, info, session, asked)
                deps = await deps_of(context.make_deps, info)
                async with admit_exchange(context, info, session):
                    if session.current is not None:
                        raise ApiError(
                            "conflict", "Another request runs in this conversation; wait for its end, or cancel it."
                        )
                    exchange = session.send(message, output=shape, deps=deps, client_request_id=asked.key)
                response = self._publish(session, info, asked, exchange.id, digest)
                if not has_approvals(response.request.parameters):
                    _refuse_questions(session, exchange)
                context.meters.track_exchange(asked.owner, exchange)
                await session.accepted(exchange)
        return StartedResponse(context, response, exchange, asked.request.is_stored)

    async def _find_session(
        self, context: ServerContext, asked: _Asked, messages: list[Message]
    ) -> tuple[SessionInfo, Message]:
        """Return the session of a request, and its message."""
        if asked.previous is not None:
            session_info = await self._find_after(context, asked, asked.previous, messages)
            if session_info is not None:
                return session_info, messages[-1]
            messages = await self._with_history(asked.home, asked.previous, messages)
        elif asked.request.conversation is not None:
            return await self._find_conversation(context, asked, messages)
        *history, message = _complete(messages)
        conversation = self._conversation(asked, history)
        if asked.previous is not None or message.role != "user" or not asked.request.is_stored:
            return await create_session(context, conversation), message
        session_id = asked.session or _session_of(asked.items)
        info = await find_ending_with(context, asked.owner, session_id, history) if session_id and history else None
        return info or await find_or_create_session(context, conversation), message

    async def _find_conversation(
        self, context: ServerContext, asked: _Asked, messages: list[Message]
    ) -> tuple[SessionInfo, Message]:
        """Return the session that `conversation` names, to which the input is added, and the message."""
        sessions = await list_sessions(context, self._conversation(asked, []))
        if not sessions:
            *history, message = _complete(messages)
            return await find_or_create_session(context, self._conversation(asked, history), fresh=True), message
        info = sessions[-1]
        async with context.open_sessions.use(info, moves_waiting=True) as session:
            await end_waiting(session)
            if session.current is not None:
                raise ApiError("conflict", "Another request runs in this conversation; wait for its end, or cancel it.")
            is_joined = asked.name == info.id  # by a client that need not know its model
            model = asked.model or (session.stored_settings.model if is_joined else context.defaults.model)
            is_same_model = model == session.stored_settings.model
            earlier = list(session.messages)
        if len(messages) == 1 and messages[0].role == "user" and is_same_model:
            return await context.sessions.store.info(info.id), messages[0]
        *history, message = _complete([*earlier, *await _with_log_ids(context, asked.owner, messages)])
        return await find_or_create_session(context, self._conversation(asked, history), fresh=True), message

    def _conversation(self, asked: _Asked, history: list[Message]) -> ClientConversation:
        return ClientConversation(
            owner=asked.owner,
            kind=KIND,
            name=asked.name if asked.request.is_stored and asked.previous is None else None,
            history=history,
            model=asked.model,
            hidden_tools=("ask",),
            is_kept=asked.request.is_stored,
        )

    async def _find_after(
        self, context: ServerContext, asked: _Asked, previous: StoredResponse, messages: Sequence[Message]
    ) -> SessionInfo | None:
        """Return the session of an earlier response, or a fork that ends with it; None if its history is needed."""
        read = await require_end(asked.home, previous)
        assert read.end is not None
        last = await is_last(asked.home, previous, read.end)
        if read.is_paused and last:
            await _end_waiting(asked.home, previous)
        if context is not asked.home or len(messages) != 1 or messages[0].role != "user":
            return None
        settings = SessionSettings.of(previous.info.settings)
        model = asked.model or context.defaults.model
        if last and model == settings.model:
            return previous.info
        if read.is_paused:
            return None
        context.meters.check_new_session(asked.owner)
        fork = await context.sessions.fork(previous.info.id, read.end)
        if model != settings.model:
            changed = context.configuration.merge({"model": model}, settings)
            await context.sessions.store.configure(fork.id, changed.data())
        return await context.sessions.store.info(fork.id)

    async def _with_history(
        self, home: ServerContext, previous: StoredResponse, messages: Sequence[Message]
    ) -> list[Message]:
        """Put the conversation up to an earlier response before new messages."""
        read = await require_end(home, previous)
        history, results = await history_at(home, previous, read.end or 0)
        first, *others = await _with_log_ids(home, previous.info.owner, messages)
        if first.role == "tool" and history and history[-1].tool_calls:
            result_ids = {block.id for block in first.content if isinstance(block, ToolResult)}
            earlier = [result for result in results if result.id not in result_ids]
            first = msgspec.structs.replace(first, content=[*earlier, *first.content])
        return [*history, first, *others]

    # --- both --------------------------------------------------------------------------------------------------------

    async def _prepare(self, context: ServerContext, info: SessionInfo, session: Session, asked: _Asked) -> str:
        """Apply the parameters of a request. Returns the digest of its stored input."""
        precedence = choose_precedence(self._context, asked.request.agent_tools)
        await offer_client_tools(session, asked.request.tools, precedence)
        digest = await context.sessions.store.put_blob(info.id, encode(list(asked.items)))
        settings = dict(asked.request.settings)
        if asked.system:
            base = session.settings.system
            settings["system"] = "\n\n".join([*([base] if base else []), *asked.system])
        await configure_session(session, settings)
        return digest

    def _publish(
        self,
        session: Session,
        info: SessionInfo,
        asked: _Asked,
        exchange: str,
        digest: str,
        *,
        continues: bool = False,
        begin: int | None = None,
    ) -> StoredResponse:
        """Record the request in the log: its place there is the id of the response."""
        show = self._context.settings.show_tools or asked.request.parameters.get("show_tools") is True
        repeated = {"model": asked.model or "heald", "created_at": int(time())}
        sampling = {"temperature": session.settings.temperature, "top_p": session.settings.top_p}
        parameters = {
            **{name: value for name, value in sampling.items() if value is not None},
            **asked.request.parameters,
            **repeated,
            **({"show_tools": True} if show else {}),
        }
        request = ResponseRequested(exchange, parameters, digest, continues, begin)
        session.publish(request)
        return StoredResponse(info, session.last_seq, request)


async def _end_waiting(home: ServerContext, previous: StoredResponse) -> None:
    """End the exchange of a response that waits for answers that do not come."""
    async with home.open_sessions.use(previous.info) as session:
        current = session.current
        if current is not None and current.id == previous.request.exchange:
            await end_waiting(session)


async def _with_log_ids(context: ServerContext, owner: str, messages: Sequence[Message]) -> list[Message]:
    """Give results that come before any other message the ids that their calls have in the log."""
    first, *others = messages
    names = [block.id for block in first.content if isinstance(block, ToolResult)]
    calls = await find_answered_calls(context, owner, names) if names else None
    if calls is None:
        return [first, *others]
    content = [
        msgspec.structs.replace(block, id=calls.ids[block.id]) if isinstance(block, ToolResult) else block
        for block in first.content
    ]
    return [msgspec.structs.replace(first, content=content), *others]


def _session_of(items: Sequence[JsonObject]) -> str | None:
    """The session that returned the last item of ours that the client sends back, by the id of this item."""
    for item in reversed(items):
        is_ours = item.get("type") in _OUTPUT or item.get("role") == "assistant"
        names = [item.get(field) for field in ("id", "call_id")] if is_ours else []
        for name in names:
            place = parse_place_id(name) if isinstance(name, str) else None
            if place is not None:
                return place[0]
    return None


def _convert(messages: Sequence[JsonObject]) -> list[Message]:
    with _naming_input():
        return convert_messages(messages)


def _complete(messages: Sequence[Message]) -> list[Message]:
    with _naming_input():
        return with_all_results(messages)


@contextmanager
def _naming_input() -> Generator[None]:
    """Name the parameter in errors about messages."""
    try:
        yield
    except ApiError as error:
        error.param = error.param or "input"
        raise


def _waiting(session: Session) -> set[str]:
    return {*(call.id for call in session.client_calls), *(approval.approval for approval in session.approvals)}


def _refuse_questions(session: Session, exchange: ExchangeInterface) -> None:
    """Cancel an exchange that asks for an approval or an answer, because nobody is there to give it."""

    def refuse(event: Event) -> None:
        if event.exchange == exchange.id:
            exchange.cancel(_NOBODY)

    subscription = session.subscribe(refuse, types=["approval_requested", "question_asked"])
    exchange.on_end(subscription.close)


async def require_end(context: ServerContext, response: StoredResponse) -> ReadResponse:
    """Read a response. Raises `ApiError` while it runs."""
    read = await read_response(context, response)
    if read.end is None:
        raise ApiError(
            "conflict",
            f"The response {response.id!r} is in progress; wait for its end, or cancel it.",
            param="previous_response_id",
        )
    return read
