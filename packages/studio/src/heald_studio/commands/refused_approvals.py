"""Answers the questions of external agents where nobody can be asked: the variants of a command run side by side."""

from heald.core.events import ApprovalRequested
from heald.sessions.session import Session
from heald.sessions.session_info import SessionInfo
from heald.tools.approvals import Approval

_REASON = (
    "Nobody can be asked in this command; an agent may change the files of the project only. In the page of "
    "`heald serve` a person can allow more."
)


def refuse_approvals(_: SessionInfo, session: Session) -> None:
    """Deny every call of a session that the permissions do not allow."""
    session.answer_with(on_approval=_refuse)


async def _refuse(_: ApprovalRequested) -> Approval:
    return Approval(allowed=False, reason=_REASON)
