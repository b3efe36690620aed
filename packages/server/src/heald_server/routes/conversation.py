"""Messages, cancels, approvals and answers in a session: the actions of HTTP and WebSocket, and their routes."""

import asyncio
from functools import partial

from starlette.responses import Response

from heald.agent.typed_output import SchemaShape
from heald.core.json import JsonObject, encode_text
from heald.sessions.history import read_history
from heald.sessions.session_info import SessionInfo
from heald.sessions.settings import SessionSettings
from heald.tools.visible_text import escape_json
from heald_server.context import ServerContext
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, caller_of
from heald_server.routes.client_tools import set_client_tools
from heald_server.routes.conversation_views import (
    AnswerBody,
    CancelBody,
    DecisionBody,
    ForgottenView,
    MessagesView,
    PendingView,
)
from heald_server.routes.fields import Empty
from heald_server.routes.paths import SESSION
from heald_server.routes.submission import Submission, read_message
from heald_server.start_exchange import Accepted, Cancelled, cancel_exchange, pass_on, start_exchange
from heald_server.stored_answer import storing_answer


async def submit_message(context: ServerContext, info: SessionInfo, submission: Submission) -> Accepted:
    """Start an exchange with a client's message. Returns once the request is stored."""
    message = await read_message(context.sessions.store, info.id, submission)
    output = await _read_output_schema(submission.output_schema)
    if submission.client_tools is not None:
        await set_client_tools(context, info, submission.client_tools)
    passed_on = await pass_on(
        context, info, message, submission.client_request_id, submission.output_schema, submission.budget
    )
    if passed_on is not None:
        return passed_on
    accepted, _ = await start_exchange(
        context,
        info,
        message,
        submission.client_request_id,
        submission.when_busy,
        output,
        submission.budget,
    )
    return accepted


async def _read_output_schema(schema: JsonObject | None) -> SchemaShape | None:
    if schema is None:
        return None
    return await asyncio.to_thread(SchemaShape, schema)  # compiling a schema of a client must not block the loop


async def resolve_approval(
    context: ServerContext, info: SessionInfo, approval: str, decision: DecisionBody, by: str
) -> None:
    """Decide on a waiting call. Returns once that is stored. `by` is the name of the caller, for the log."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise _nothing_waits()
        async with storing_answer(session, ["approval_resolved"], approval):
            if decision.decision == "deny":
                session.deny(approval, decision.reason, by=by)
            else:
                session.approve(
                    approval, arguments=decision.arguments, always=decision.always, digest=decision.digest, by=by
                )


async def answer_question(context: ServerContext, info: SessionInfo, question: str, text: str) -> None:
    """Answer a question. Returns once that is stored."""
    async with context.open_sessions.use_running(info) as session:
        if session is None:
            raise _nothing_waits()
        async with storing_answer(session, ["question_answered"], question):
            session.answer(question, text)


def _nothing_waits() -> ApiError:
    return ApiError("conflict", "Nothing is waiting for a decision in this session.")


async def _send_message(call: ApiCall) -> Accepted:
    return await submit_message(call.context, await call.session(), call.body)


async def _list_messages(call: ApiCall) -> MessagesView:
    info = await call.session()
    history = await read_history(call.context.sessions.store, info.id, SessionSettings.of(info.settings))
    return MessagesView(history.state.messages, history.state.seq)


async def _list_pending(call: ApiCall) -> Response:
    """List what waits. A person may read it as it is, so hidden characters are written as escapes of JSON."""
    view = PendingView([], [])
    async with call.context.open_sessions.use_running(await call.session()) as session:
        if session is not None:
            view = PendingView(session.approvals, session.questions, session.client_calls)
    return Response(escape_json(encode_text(view)), media_type="application/json")


async def _cancel(call: ApiCall) -> Cancelled:
    body: CancelBody = call.body
    return await cancel_exchange(call.context, await call.session(), body.exchange, body.reason)


async def _decide(call: ApiCall) -> Empty:
    by = caller_of(call.request).name
    await resolve_approval(call.context, await call.session(), call.path["approval"], call.body, by)
    return Empty()


async def _forget_allowed(call: ApiCall) -> ForgottenView:
    async with call.context.open_sessions.use(await call.session()) as session:
        return ForgottenView(await session.forget_allowed())


async def _answer(call: ApiCall) -> Empty:
    await answer_question(call.context, await call.session(), call.path["question"], call.body.answer)
    return Empty()


_operation = partial(Operation, errors=("not_found",), tag="conversation")
_resolving = partial(_operation, errors=("not_found", "conflict"))

OPERATIONS = (
    _operation(
        "POST",
        f"{SESSION}/messages",
        _send_message,
        "Send a message. Answered once the request is stored.",
        Accepted,
        Submission,
        status=202,
        errors=("not_found", "busy", "too_many", "budget", "too_large"),
    ),
    _operation("GET", f"{SESSION}/messages", _list_messages, "The conversation so far.", MessagesView),
    _operation("POST", f"{SESSION}/cancel", _cancel, "Cancel.", Cancelled, CancelBody, body_optional=True),
    _operation("GET", f"{SESSION}/pending", _list_pending, "What waits for the user or a client.", PendingView),
    _resolving("POST", f"{SESSION}/approvals/{{approval}}", _decide, "Approve or deny a call.", Empty, DecisionBody),
    _operation("DELETE", f"{SESSION}/allowed", _forget_allowed, "Revoke what was always allowed.", ForgottenView),
    _resolving("POST", f"{SESSION}/questions/{{question}}", _answer, "Answer a question.", Empty, AnswerBody),
)
