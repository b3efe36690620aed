"""Functions that answer for people: one decides over calls, one answers questions.

Whatever they do, what waits is settled: a decision that fails is a no, and one that comes too late changes nothing.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from weft.core.envelope import Event
from weft.core.events import ApprovalRequested, QuestionAsked
from weft.tools.approvals import Approval, Approvals, NotPending

OnApproval = Callable[[ApprovalRequested], Awaitable[bool | Approval]]
OnQuestion = Callable[[QuestionAsked], Awaitable[str]]


class Approver:
    """A reactor that lets a function decide."""

    def __init__(self, decide: OnApproval, approvals: Approvals) -> None:
        self._decide = decide
        self._approvals = approvals

    async def on_approval_requested(self, event: Event) -> None:
        request = event.data
        assert isinstance(request, ApprovalRequested)
        decision: bool | Approval = Approval(False, "Whoever was to decide could not.")
        try:
            decision = await self._decide(request)
        finally:
            with suppress(NotPending):
                approval = decision if isinstance(decision, Approval) else Approval(bool(decision))
                self._approvals.resolve(request.approval, approval)


class Answerer:
    """A reactor that lets a function answer."""

    def __init__(self, answer: OnQuestion, approvals: Approvals) -> None:
        self._answer = answer
        self._approvals = approvals

    async def on_question_asked(self, event: Event) -> None:
        question = event.data
        assert isinstance(question, QuestionAsked)
        answer = "(Whoever was asked could not answer.)"
        try:
            answer = await self._answer(question)
        finally:
            with suppress(NotPending):
                self._approvals.answer(question.question, answer)
