"""Pending approvals and questions of a session.

An approval is bound to the exact call by a digest and is used once. It is resolved by its id. A caller that also passes
the digest it displayed ensures that the displayed call is the one that runs.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from weft.core.errors import WeftError
from weft.core.events import ApprovalRequested, ApprovalResolved, QuestionAnswered, QuestionAsked
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.core.messages import ToolCall
from weft.tools.context import Emit


class NotPending(WeftError):
    """The approval or question is not pending: it is unknown or already resolved."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class Approval:
    """The user's decision on a call."""

    allowed: bool
    reason: str = ""
    arguments: JsonObject | None = None
    """Arguments that replace those of the call."""
    always: bool = False
    """Allow the identical call for the rest of the session."""


def digest_of(name: str, arguments: JsonObject, place: str) -> str:
    """Return a digest of a call: the tool, the exact arguments and the workspace root."""
    return sha256(json.dumps([name, arguments, place], sort_keys=True).encode()).hexdigest()


class PendingApprovals:
    """The pending approvals and questions of one session."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[ApprovalRequested, asyncio.Future[Approval]]] = {}
        self._questions: dict[str, tuple[QuestionAsked, asyncio.Future[str]]] = {}

    @property
    def open_approvals(self) -> list[ApprovalRequested]:
        return [request for request, future in self._calls.values() if not future.done()]

    @property
    def open_questions(self) -> list[QuestionAsked]:
        return [question for question, future in self._questions.values() if not future.done()]

    async def approve(self, call: ToolCall, digest: str, summary: str, emit: Emit) -> Approval:
        """Ask for a decision on a call and wait for it."""
        request = ApprovalRequested(new_id("appr"), call.id, call.name, digest, summary)
        future: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()
        self._calls[request.approval] = (request, future)
        decision = Approval(False, "The exchange ended before a decision was made.")
        emit(request)
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
                )
            )

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
        question = QuestionAsked(new_id("q"), call.id, text, list(suggestions))
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
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
