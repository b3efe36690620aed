"""Calls the functions `on_approval` and `on_question` of the application."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, cast

from heald.core.envelope import Event
from heald.core.errors import ConfigurationError
from heald.core.events import ApprovalRequested, ApprovalResolved, QuestionAsked
from heald.tools.approvals import Approval, NotPending
from heald.tools.permissions import Mode

OnApproval = Callable[[ApprovalRequested], Awaitable[bool | Approval] | bool | Approval]
"""Decides on a call: True, False or an `Approval`. It may be a coroutine function."""
OnQuestion = Callable[[QuestionAsked], Awaitable[str] | str]
"""Answers a question with a text. It may be a coroutine function."""


def default_mode(on_approval: OnApproval | None) -> Mode:
    """Return the permission mode where none is named: `ask` if somebody can answer, else `auto`."""
    return "ask" if on_approval is not None else "auto"


class _CallbackTasks:
    """Runs one task for each open request to the application, and cancels it when the answer is not needed any more."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def _begin(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[key] = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: str, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            logging.getLogger("heald").error("A callback of the application failed.", exc_info=error)

    def _drop(self, key: str) -> None:
        if (task := self._tasks.pop(key, None)) is not None:
            task.cancel()

    def cancel_all(self) -> None:
        for key in list(self._tasks):
            self._drop(key)

    def on_exchange_response(self, event: Event) -> None:
        self.cancel_all()


class ApprovalReactor(_CallbackTasks):
    """A reactor that passes calls to a function, which decides on them. If the function fails, the call is denied."""

    def __init__(self, decide: OnApproval, resolve: Callable[[str, Approval], None]) -> None:
        super().__init__()
        self._decide = decide
        self._resolve = resolve

    def on_approval_requested(self, event: Event) -> None:
        assert isinstance(event.data, ApprovalRequested)
        self._begin(event.data.approval, self._ask(event.data))

    def on_approval_resolved(self, event: Event) -> None:
        assert isinstance(event.data, ApprovalResolved)
        self._drop(event.data.approval)

    async def _ask(self, request: ApprovalRequested) -> None:
        decision = Approval(False, "The approval callback failed.")
        try:
            answer = self._decide(request)
            decision = _read_decision(await answer if isinstance(answer, Awaitable) else answer)
        finally:
            with suppress(NotPending):
                self._resolve(request.approval, decision)


def _read_decision(decision: object) -> Approval:
    if isinstance(decision, Approval):
        return decision
    if isinstance(decision, bool):
        return Approval(decision)
    raise ConfigurationError(f"on_approval returned {decision!r}; return True, False or a heald.Approval.")


class QuestionReactor(_CallbackTasks):
    """A reactor that passes questions to a function, which answers them."""

    def __init__(self, answer: OnQuestion, reply: Callable[[str, str], None]) -> None:
        super().__init__()
        self._answer = answer
        self._reply = reply

    def on_question_asked(self, event: Event) -> None:
        assert isinstance(event.data, QuestionAsked)
        self._begin(event.data.question, self._ask(event.data))

    async def _ask(self, question: QuestionAsked) -> None:
        answer = "(The question callback could not answer.)"
        try:
            reply = self._answer(question)
            reply = await reply if isinstance(reply, Awaitable) else reply
            if not isinstance(cast(object, reply), str):
                raise ConfigurationError(f"on_question returned {reply!r}; return the answer as a str.")
            answer = reply
        finally:
            with suppress(NotPending):
                self._reply(question.question, answer)
