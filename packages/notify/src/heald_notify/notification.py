"""Notifications: what an event of a log means to somebody who does not watch the session."""

from datetime import UTC, datetime
from hashlib import sha256
from typing import Literal

import msgspec

from heald.core.envelope import Event
from heald.core.events import ApprovalRequested, ExchangeResponse, QuestionAsked
from heald.core.json import JsonObject, encode
from heald.sessions.session_info import SessionInfo

NotificationType = Literal["exchange.ended", "approval.waiting", "question.waiting", "budget.reached"]
NOTIFICATION_TYPES: tuple[NotificationType, ...] = (
    "exchange.ended",
    "approval.waiting",
    "question.waiting",
    "budget.reached",
)
EVENT_TYPES = ("exchange_response", "approval_requested", "question_asked")
"""The types of events that notifications come from."""
_MAX_TEXT = 1_000


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One notification. Its id is made from its place in the log, so it is the same whenever it is sent."""

    id: str
    type: NotificationType
    time: float
    title: str
    """A line for a person. It has no text of the conversation, because it is shown on locked screens."""
    data: JsonObject

    def encode(self) -> bytes:
        """Return the body of a webhook."""
        timestamp = datetime.fromtimestamp(self.time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return encode({"type": self.type, "timestamp": timestamp, "data": self.data})


def notification_types(event: Event, *, is_delegate: bool = False) -> list[NotificationType]:
    """Return the types of the notifications that an event has. The end of a delegate is not that of the request."""
    match event.data:
        case ApprovalRequested():
            return ["approval.waiting"]
        case QuestionAsked():
            return ["question.waiting"]
        case ExchangeResponse() if not is_delegate:
            return ["exchange.ended", *(["budget.reached"] if event.data.status == "limit" else [])]
        case _:
            return []


def notification_id(session: str, seq: int, kind: NotificationType) -> str:
    """Return the id of a notification."""
    return "msg_" + sha256(f"{session}\0{seq}\0{kind}".encode()).hexdigest()[:32]


def make_notification(event: Event, kind: NotificationType, root: SessionInfo, link: str) -> Notification:
    """Make a notification of an event. `root` is the session that a person sees: that of a delegate's caller."""
    data: JsonObject = {
        "session": root.id,
        "title": root.title,
        "exchange": event.exchange,
        "seq": event.seq,
        **({"log": event.session} if event.session != root.id else {}),
        **({"link": link} if link else {}),
        **_details(event),
    }
    return Notification(
        id=notification_id(event.session, event.seq, kind),
        type=kind,
        time=event.time,
        title=_title(event, kind),
        data=data,
    )


def _title(event: Event, kind: NotificationType) -> str:
    match event.data:
        case ApprovalRequested():
            return f"Approve {event.data.name}?"
        case QuestionAsked():
            return "The model asks a question."
        case ExchangeResponse() if kind == "budget.reached":
            return f"The budget of {event.data.limit or 'the exchange'} is reached."
        case ExchangeResponse():
            return {"completed": "Done.", "cancelled": "Cancelled.", "limit": "Stopped by its budget."}.get(
                event.data.status, "Failed."
            )
        case _:
            return kind


def _details(event: Event) -> JsonObject:
    match event.data:
        case ApprovalRequested() as request:
            return {
                "approval": request.approval,
                "call_id": request.call_id,
                "tool": request.name,
                "digest": request.digest,
                "summary": request.summary[:_MAX_TEXT],
                "reason": request.reason[:_MAX_TEXT],
            }
        case QuestionAsked() as question:
            return {
                "question": question.question,
                "call_id": question.call_id,
                "text": question.text[:_MAX_TEXT],
                "suggestions": question.suggestions,
            }
        case ExchangeResponse() as response:
            return {
                "status": response.status,
                "stop_reason": response.stop_reason,
                "turns": response.turns,
                "duration_ms": response.duration_ms,
                "usage": response.usage,
                "cost_usd": response.cost_usd,
                "limit": response.limit,
                "note": response.note,
                "error": response.error,
            }
        case _:
            return {}
