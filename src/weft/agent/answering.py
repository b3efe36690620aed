"""Functions that answer for people: one decides over calls, one answers questions.

Whatever they do, what waits is settled: a decision that fails is a no. Each is asked in a task of its own, which ends
when nobody needs the answer any more.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from weft.core.envelope import Event
from weft.core.events import ApprovalRequested, ApprovalResolved, QuestionAsked
from weft.tools.approvals import Approval, Approvals, NotPending

OnApproval = Callable[[ApprovalRequested], Awaitable[bool | Approval]]
OnQuestion = Callable[[QuestionAsked], Awaitable[str]]


class _Asking:
    """Keeps the tasks of those who were asked."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def _begin(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks[key] = task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(lambda done: self._ended(key, done))

    def _ended(self, key: str, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            logging.getLogger("weft").error("Whoever was asked failed.", exc_info=error)

    def _drop(self, key: str) -> None:
        if (task := self._tasks.pop(key, None)) is not None:
            task.cancel()

    def on_exchange_response(self, event: Event) -> None:
        for key in list(self._tasks):
            self._drop(key)


class Approver(_Asking):
    """A reactor that lets a function decide."""

    def __init__(self, decide: OnApproval, approvals: Approvals) -> None:
        super().__init__()
        self._decide = decide
        self._approvals = approvals

    def on_approval_requested(self, event: Event) -> None:
        assert isinstance(event.data, ApprovalRequested)
        self._begin(event.data.approval, self._ask(event.data))

    def on_approval_resolved(self, event: Event) -> None:
        assert isinstance(event.data, ApprovalResolved)
        self._drop(event.data.approval)

    async def _ask(self, request: ApprovalRequested) -> None:
        decision: bool | Approval = Approval(False, "Whoever was to decide could not.")
        try:
            decision = await self._decide(request)
        finally:
            with suppress(NotPending):
                approval = decision if isinstance(decision, Approval) else Approval(bool(decision))
                self._approvals.resolve(request.approval, approval)


class Answerer(_Asking):
    """A reactor that lets a function answer."""

    def __init__(self, answer: OnQuestion, approvals: Approvals) -> None:
        super().__init__()
        self._answer = answer
        self._approvals = approvals

    def on_question_asked(self, event: Event) -> None:
        assert isinstance(event.data, QuestionAsked)
        self._begin(event.data.question, self._ask(event.data))

    async def _ask(self, question: QuestionAsked) -> None:
        answer = "(Whoever was asked could not answer.)"
        try:
            answer = await self._answer(question)
        finally:
            with suppress(NotPending):
                self._approvals.answer(question.question, answer)
