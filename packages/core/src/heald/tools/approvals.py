"""Pending approvals and questions of a session.

An approval is bound to the exact call by a digest and is used once. It is resolved by its id. A caller that also passes
the digest it displayed ensures that the displayed call is the one that runs.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from heald.core.arguments import CheckedFields
from heald.core.digest import sha256
from heald.core.errors import ConfigurationError, HealdError
from heald.core.events import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked
from heald.core.ids import new_id
from heald.core.json import JsonObject
from heald.core.messages import ToolCall
from heald.tools.context import Emit

NOBODY = "Nobody is there to answer. Decide by yourself, and say what you assumed."
"""The answer to a question where nobody can be asked."""


class NotPending(HealdError):
    """The approval or question is not pending: it is unknown or already resolved."""

    code = "invalid_request"


class Approval(msgspec.Struct, frozen=True, metaclass=CheckedFields):
    """The user's decision on a call."""

    allowed: bool
    reason: str = ""
    arguments: JsonObject | None = None
    """Arguments that replace those of the call."""
    always: bool = False
    """Allow the identical call for the rest of the session."""
    by: str = ""
    """Who decided, for the log."""


class ApprovalQuestion(msgspec.Struct, frozen=True):
    """What the user is shown of a call."""

    arguments: JsonObject
    digest: str
    summary: str
    diff: str = ""
    """The change that it will make."""
    reason: str = ""
    """Why it is asked for."""


def digest_of(name: str, arguments: JsonObject, place: str) -> str:
    """Return a digest of a call: the tool, the exact arguments and the workspace root."""
    import json  # a request without tools loads no encoder

    return sha256(json.dumps([name, arguments, place], sort_keys=True).encode()).hexdigest()


class PendingApprovals:
    """The pending approvals and questions of one session."""

    def __init__(self) -> None:
        self.attended = False
        """Whether a function of the application decides on approvals, so that a request in mode `auto` is answered."""
        self.answers_questions = True
        """Whether somebody may answer questions: False for an application that decides on approvals only."""
        self.can_be_answered: Callable[[], bool] = lambda: True
        """Whether somebody sees a request: a callback, a subscriber, or clients of a session."""
        self.unanswerable: ConfigurationError | None = None
        """The error of a call that needed an approval which nobody could give. It ends the exchange."""
        self._calls: dict[str, tuple[ApprovalRequested, asyncio.Future[Approval]]] = {}
        self._questions: dict[str, tuple[QuestionAsked, asyncio.Future[str]]] = {}
        self._restored: dict[str, str] = {}  # approvals and questions of an earlier process, by call
        self._decisions: dict[str, Approval] = {}  # decisions that an earlier process recorded, by call

    @property
    def open_approvals(self) -> list[ApprovalRequested]:
        return [request for request, future in self._calls.values() if not future.done()]

    def find_unanswerable(self, tool: str) -> ConfigurationError | None:
        """Return the error of a call that nobody can decide on: it would wait for ever."""
        if self.can_be_answered():
            return None
        self.unanswerable = ConfigurationError(
            f"The tool {tool!r} needs an approval and nobody can be asked; give on_approval=, subscribe to "
            "approval_requested, or choose permissions='auto' or 'read-only'."
        )
        return self.unanswerable

    @property
    def open_questions(self) -> list[QuestionAsked]:
        return [question for question, future in self._questions.values() if not future.done()]

    def restore_approval(self, request: ApprovalRequested) -> None:
        """Let an approval wait on that an earlier process has requested. It keeps its id."""
        self._calls[request.approval] = (request, asyncio.get_running_loop().create_future())
        self._restored[request.call_id] = request.approval

    def restore_decision(self, call: str, decision: Approval) -> None:
        """Use a decision that an earlier process has recorded, when the call asks for it."""
        self._decisions[call] = decision

    def restore_question(self, question: QuestionAsked) -> None:
        """Let a question wait on that an earlier process has asked. It keeps its id."""
        self._questions[question.question] = (question, asyncio.get_running_loop().create_future())
        self._restored[question.call_id] = question.question

    def close_restored(self, call: str, decision: Literal["allowed", "denied"], emit: Emit) -> None:
        """Resolve the restored approval of a call that did not ask for it: the rules have changed, or it never ran."""
        self._decisions.pop(call, None)
        approval = self._restored.get(call, "")
        if approval in self._calls:
            del self._calls[approval], self._restored[call]
            emit(ApprovalResolved(approval, call, decision))

    def forget_restored(self, calls: Iterable[str]) -> None:
        """Drop the restored questions and decisions of calls that are over."""
        for call in calls:
            self._decisions.pop(call, None)
            self._questions.pop(self._restored.pop(call, ""), None)

    async def approve(self, call: ToolCall, question: ApprovalQuestion, emit: Emit) -> Approval:
        """Ask for a decision on a call and wait for it."""
        if call.id in self._decisions:
            return self._decisions.pop(call.id)
        request, future = self._request(call, question, emit)
        decision = Approval(False, "The exchange ended before a decision was made.")
        try:
            decision = await future
            return decision
        finally:
            self._calls.pop(request.approval, None)
            emit(
                ApprovalResolved(
                    request.approval,
                    call.id,
                    "allowed" if decision.allowed else "denied",
                    decision.reason,
                    decision.arguments,
                    decision.always,
                    decision.by,
                )
            )

    def _request(
        self, call: ToolCall, question: ApprovalQuestion, emit: Emit
    ) -> tuple[ApprovalRequested, asyncio.Future[Approval]]:
        """Return the approval of the call that waits since an earlier process, else request one."""
        restored = self._restored.pop(call.id, "")
        if restored in self._calls:
            request, future = self._calls[restored]
            if request.digest == question.digest:
                return request, future
            del self._calls[restored]
            emit(ApprovalResolved(restored, call.id, "denied", "The call is not the one that was shown."))
        request = ApprovalRequested(
            new_id("appr"),
            call.id,
            call.name,
            question.digest,
            question.summary,
            question.diff,
            question.arguments,
            question.reason,
        )
        self._calls[request.approval] = opened = (request, asyncio.get_running_loop().create_future())
        emit(request)
        return opened

    def resolve(self, approval: str, decision: Approval, *, digest: str | None = None) -> None:
        """Resolve an approval. Raises NotPending if it is not pending or if the digest does not match."""
        request, future = self._calls.get(approval, (None, None))
        if request is None or future is None or future.done():
            raise NotPending(f"No approval {approval!r} is waiting; it was resolved before, or its exchange is over.")
        if digest is not None and digest != request.digest:
            raise NotPending(f"The approval {approval!r} is for another call than the one that was shown.")
        future.set_result(decision)

    async def ask(self, call: ToolCall, text: str, suggestions: Sequence[str], emit: Emit) -> str:
        """Ask the user a question and wait for the answer."""
        restored = self._questions.get(self._restored.pop(call.id, ""))
        if restored is not None and restored[0].text == text:
            question, future = restored
        else:
            question = QuestionAsked(new_id("q"), call.id, text, list(suggestions))
            future = asyncio.get_running_loop().create_future()
            self._questions[question.question] = (question, future)
            emit(question)
        try:
            answer = await future
        finally:
            self._questions.pop(question.question, None)
        emit(QuestionAnswered(question.question, call.id, answer))
        return answer

    def answer(self, question: str, text: str) -> None:
        _, future = self._questions.get(question, (None, None))
        if future is None or future.done():
            raise NotPending(f"No question {question!r} is waiting; it was answered before, or its exchange is over.")
        future.set_result(text)
