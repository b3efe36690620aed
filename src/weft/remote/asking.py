"""What waits for a person on a server, for the functions here that answer for people."""

import logging
from asyncio import Future
from collections.abc import Callable
from typing import TYPE_CHECKING

from weft.tools.approvals import Approval, Approvals, NotPending

if TYPE_CHECKING:
    from weft.remote.agent import RemoteAgent

_log = logging.getLogger("weft.remote")


class RemoteApprovals(Approvals):
    """Settles what waits by telling the server. What does not wait any more is left alone."""

    def __init__(self, agent: "RemoteAgent", is_waiting: Callable[[str], bool]) -> None:
        super().__init__()
        self._agent = agent
        self._is_waiting = is_waiting

    def resolve(self, approval: str, decision: Approval, *, digest: str | None = None) -> None:
        if not self._is_waiting(approval):
            raise NotPending(f"No approval {approval!r} is waiting; it was resolved before, or its exchange is over.")
        if decision.allowed:
            self._agent.approve(approval, arguments=decision.arguments, always=decision.always, digest=digest)
        else:
            self._agent.deny(approval, decision.reason)

    def answer(self, question: str, text: str) -> None:
        if not self._is_waiting(question):
            raise NotPending(f"No question {question!r} is waiting; it was answered before, or its exchange is over.")
        self._agent.answer(question, text)


def heard(future: "Future[None]") -> None:
    """A decision may be made without waiting for it: then a failure is told to the log."""
    if not future.cancelled() and (error := future.exception()) is not None:
        _log.warning("What was decided did not count: %s", error)
