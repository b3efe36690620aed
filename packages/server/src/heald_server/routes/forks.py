"""Routes for forks: create one, with a change or without, and compare two sessions."""

from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec

from heald.core.json import JsonObject
from heald.sessions.fork_change import ForkChange
from heald.sessions.session_comparison import SessionComparison, compare_sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.store_errors import NoSuchSession
from heald.tools.approvals import Approval
from heald_server.held_elsewhere import HeldElsewhere
from heald_server.http.errors import ApiError
from heald_server.http.operations import ApiCall, Operation, caller_of
from heald_server.routes.fields import Body, Name, Seq, Title
from heald_server.routes.paths import SESSION
from heald_server.routes.session_views import SessionView
from heald_server.routes.sessions import flush_session, view_session

_Prompt = Annotated[str, msgspec.Meta(min_length=1)]


class ForkDecision(Body, frozen=True, kw_only=True):
    decision: Literal["approve", "deny"]
    arguments: JsonObject | None = None
    reason: Title = ""


class ForkedResult(Body, frozen=True, kw_only=True):
    content: Any
    """A text, parts, or any JSON."""
    is_error: bool = False


class ForkChangeBody(Body, frozen=True, kw_only=True):
    """What differs in the fork: one of prompt, result and approval, and with it, or alone, another model. Without any
    of them the turn is requested again."""

    model: Name | None = None
    prompt: _Prompt | None = None
    result: ForkedResult | None = None
    approval: ForkDecision | None = None
    call: Name | None = None
    """The call of the result or the approval. By default it is the call that the event belongs to."""

    def change(self) -> ForkChange:
        """Return the change. Raises ConfigurationError for parts that exclude each other."""
        approval = self.approval
        return ForkChange(
            model=self.model,
            prompt=self.prompt,
            result=None if self.result is None else self.result.content or "",
            is_error=self.result is not None and self.result.is_error,
            approval=None
            if approval is None
            else Approval(approval.decision == "approve", approval.reason, approval.arguments),
            call=self.call,
        )


class ForkBody(Body, frozen=True, kw_only=True):
    at: Seq | None = None
    """The event to fork at; the last one by default."""
    title: Title | None = None
    change: ForkChangeBody | None = None
    """Without it the fork is idle. With it, the fork continues with the change at once."""


async def _fork(call: ApiCall) -> SessionView:
    context, info, body = call.context, await call.session(), call.body
    assert isinstance(body, ForkBody)
    context.meters.check_new_session(call.owner)
    await flush_session(call, info)
    if body.change is None:
        return view_session(call, await context.sessions.fork(info.id, body.at, title=body.title))
    caller = caller_of(call.request)
    if caller.is_guest:  # the fork is not in what the link shares
        raise ApiError("forbidden", "The link does not allow forks with a change; ask the owner of the project.")
    change = body.change.change()
    context.meters.check_exchange(call.owner)
    if change.model is not None:
        context.configuration.merge({"model": change.model}, SessionSettings.of(info.settings))
    fork = await context.sessions.fork(info.id, body.at, title=body.title, change=change, by=caller.name)
    if fork.work != "idle":
        try:
            await context.meters.admit(fork)
        except ApiError:
            await context.sessions.delete(fork.id)
            raise
        with suppress(HeldElsewhere):  # another node continues it
            async with context.open_sessions.use(fork) as session:
                await session.flush()
    return view_session(call, await context.sessions.store.info(fork.id))


async def _compare(call: ApiCall) -> SessionComparison:
    left = await call.session()
    right = await call.context.open_sessions.find_info(call.owner, call.path["other"])
    if caller_of(call.request).is_guest and (right.parent is None or right.parent != left.parent):
        raise ApiError("not_found", str(NoSuchSession(right.id)))  # the link shares the sessions of one project
    for info in (left, right):
        await flush_session(call, info)
    return await compare_sessions(call.context.sessions.store, left.id, right.id)


OPERATIONS = (
    Operation(
        "POST",
        f"{SESSION}/fork",
        _fork,
        "Create a session that continues from an event of this one, as it was or with a change.",
        SessionView,
        ForkBody,
        status=201,
        errors=("not_found", "too_many"),
        body_optional=True,
    ),
    Operation(
        "GET",
        f"{SESSION}/compare/{{other}}",
        _compare,
        "Compare two sessions: the events that both have, and what each did after them.",
        SessionComparison,
        errors=("not_found",),
    ),
)
