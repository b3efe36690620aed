"""What is said in a session: messages, cancels, decisions, answers."""

from weft.agent.state import ConversationState
from weft.server.conversing import Accepted, Cancelled, answer, cancel, decide, submit
from weft.server.operations import Call, Operation
from weft.server.parts import Submission
from weft.server.views import AnswerBody, CancelBody, DecisionBody, Done, Forgotten, MessagesView, PendingView
from weft.sessions.past import read_past
from weft.sessions.settings import SessionSettings
from weft.sessions.store import SessionInfo


async def send(call: Call) -> Accepted:
    return await submit(call.context, await call.session(), call.body)


async def messages(call: Call) -> MessagesView:
    state = await conversation(call, await call.session())
    return MessagesView(state.messages, state.seq)


async def pending(call: Call) -> PendingView:
    session = call.context.open.opened((await call.session()).id)
    if session is None:
        return PendingView([], [])
    return PendingView(session.runtime.approvals.open_approvals, session.runtime.approvals.open_questions)


async def stop(call: Call) -> Cancelled:
    body: CancelBody = call.body
    return await cancel(call.context, await call.session(), body.exchange, body.reason)


async def resolve(call: Call) -> Done:
    body: DecisionBody = call.body
    decide(
        call.context,
        await call.session(),
        call.path["approval"],
        body.decision == "approve",
        digest=body.digest,
        always=body.always,
        arguments=body.arguments,
        reason=body.reason,
    )
    return Done()


async def forget(call: Call) -> Forgotten:
    async with call.context.open.use(await call.session()) as session:
        return Forgotten(await session.forget_allowed())


async def reply(call: Call) -> Done:
    answer(call.context, await call.session(), call.path["question"], call.body.answer)
    return Done()


async def conversation(call: Call, info: SessionInfo) -> ConversationState:
    """The session as its log tells it."""
    past = await read_past(call.context.sessions.store, info.id, SessionSettings.of(info.settings))
    return past.state


OPERATIONS = (
    Operation(
        "POST",
        "/sessions/{session}/messages",
        send,
        "Ask. Answered once the request is stored.",
        body=Submission,
        answer=Accepted,
        status=202,
        refusals=("not_found", "busy", "too_many", "budget", "too_large"),
        tag="conversation",
    ),
    Operation(
        "GET",
        "/sessions/{session}/messages",
        messages,
        "The conversation so far.",
        answer=MessagesView,
        refusals=("not_found",),
        tag="conversation",
    ),
    Operation(
        "POST",
        "/sessions/{session}/cancel",
        stop,
        "End what runs.",
        body=CancelBody,
        answer=Cancelled,
        refusals=("not_found",),
        tag="conversation",
        body_optional=True,
    ),
    Operation(
        "GET",
        "/sessions/{session}/pending",
        pending,
        "What waits for a person.",
        answer=PendingView,
        refusals=("not_found",),
        tag="conversation",
    ),
    Operation(
        "POST",
        "/sessions/{session}/approvals/{approval}",
        resolve,
        "Decide on a call that waits.",
        body=DecisionBody,
        answer=Done,
        refusals=("not_found", "conflict"),
        tag="conversation",
    ),
    Operation(
        "DELETE",
        "/sessions/{session}/allowed",
        forget,
        "Take back what was allowed always: such calls are asked for again.",
        answer=Forgotten,
        refusals=("not_found",),
        tag="conversation",
    ),
    Operation(
        "POST",
        "/sessions/{session}/questions/{question}",
        reply,
        "Answer a question.",
        body=AnswerBody,
        answer=Done,
        refusals=("not_found", "conflict"),
        tag="conversation",
    ),
)
