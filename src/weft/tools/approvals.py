"""Calls that wait for a person, and questions that do.

An approval is bound to the exact call by a digest, and is used once. Who resolves it needs its id and, if they want to
be sure what they saw is what will run, the digest they were shown.
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
from weft.core.tools import ToolCall
from weft.tools.context import Emit


class NotPending(WeftError):
    """What was to be resolved does not wait: it never did, or it was resolved before."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class Approval:
    """What a person decided."""

    allowed: bool
    reason: str = ""
    arguments: JsonObject | None = None
    """Other arguments that the call shall have."""
    always: bool = False
    """The same need not be asked again in this session."""


def digest_of(name: str, arguments: JsonObject, place: str) -> str:
    """Of a call: the tool, the exact arguments, and where it would run."""
    return sha256(json.dumps([name, arguments, place], sort_keys=True).encode()).hexdigest()


class Approvals:
    """What waits for a person in one session."""

    def __init__(self) -> None:
        self._calls: dict[str, tuple[ApprovalRequested, asyncio.Future[Approval]]] = {}
        self._questions: dict[str, tuple[QuestionAsked, asyncio.Future[str]]] = {}

    @property
    def open_approvals(self) -> list[ApprovalRequested]:
        return [request for request, _ in self._calls.values()]

    @property
    def open_questions(self) -> list[QuestionAsked]:
        return [question for question, _ in self._questions.values()]

    async def approve(self, call: ToolCall, digest: str, summary: str, emit: Emit) -> Approval:
        """Ask for a decision on a call and wait for it."""
        request = ApprovalRequested(new_id("appr"), call.id, call.name, digest, summary)
        future: asyncio.Future[Approval] = asyncio.get_running_loop().create_future()
        self._calls[request.approval] = (request, future)
        decided = Approval(False, "The exchange ended before anybody decided.")
        emit(request)
        try:
            decided = await future
            return decided
        finally:
            self._calls.pop(request.approval, None)
            emit(
                ApprovalResolved(
                    request.approval,
                    call.id,
                    "allowed" if decided.allowed else "denied",
                    decided.reason,
                    decided.arguments,
                    decided.always,
                )
            )

    def resolve(self, approval: str, decision: Approval, *, digest: str | None = None) -> None:
        """Decide. Raises NotPending if it does not wait, or if the digest is of another call."""
        request, future = self._calls.get(approval, (None, None))
        if request is None or future is None or future.done():
            raise NotPending(f"No approval {approval!r} is waiting; it was resolved before, or its exchange is over.")
        if digest is not None and digest != request.digest:
            raise NotPending(f"The approval {approval!r} is for another call than the one that was shown.")
        future.set_result(decision)

    async def ask(self, call: ToolCall, text: str, suggestions: Sequence[str], emit: Emit) -> str:
        """Put a question and wait for the answer."""
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
