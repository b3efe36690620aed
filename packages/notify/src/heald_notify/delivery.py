"""Deliveries: one notification on its way to one endpoint, with its attempts."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from heald.core.envelope import Event
from heald_notify.endpoint import NotifyEndpoint
from heald_notify.notification import NotificationType, notification_id, notification_types

DeliveryState = Literal["pending", "delivered", "dead"]
SCHEDULE: tuple[float, ...] = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds between the attempts, as Standard Webhooks recommends: ten attempts in about three days."""
_JITTER = 0.1
_MAX_RETRY_AFTER = 86_400.0


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """A notification for an endpoint. Its content is read from the log when it is sent."""

    id: str
    """That of the notification, a dot, and that of the endpoint."""
    endpoint: str
    type: NotificationType
    root: str
    """The session that a person sees."""
    session: str
    """The session whose log has the event."""
    seq: int
    time: float
    """When the event happened."""
    node: str = ""
    """The server that sends it."""
    state: DeliveryState = "pending"
    attempts: int = 0
    next_at: float = 0.0
    problem: str = ""
    """Why the last attempt failed."""

    @property
    def message(self) -> str:
        """The id of the notification."""
        return self.id.partition(".")[0]

    def succeed(self) -> "Delivery":
        return msgspec.structs.replace(self, state="delivered", attempts=self.attempts + 1, problem="")

    def fail(
        self, problem: str, moment: float, schedule: Sequence[float], *, spread: float, retry_after: float = 0.0
    ) -> "Delivery":
        """Return the delivery after a failed attempt: with the time of the next one, or dead. `spread` is a random
        number from -1 to 1."""
        attempts = self.attempts + 1
        if attempts > len(schedule):
            return msgspec.structs.replace(self, state="dead", attempts=attempts, problem=problem)
        delay = schedule[attempts - 1] * (1 + _JITTER * spread)
        delay = max(delay, min(retry_after, _MAX_RETRY_AFTER))
        return msgspec.structs.replace(self, attempts=attempts, next_at=moment + delay, problem=problem)

    def abandon(self, problem: str) -> "Delivery":
        return msgspec.structs.replace(self, state="dead", attempts=self.attempts + 1, problem=problem)

    def replay(self, node: str = "") -> "Delivery":
        """Return the delivery as a new one, with the same id."""
        return msgspec.structs.replace(self, state="pending", attempts=0, next_at=0.0, problem="", node=node)


def make_deliveries(event: Event, root: str, endpoint: NotifyEndpoint, node: str = "") -> list[Delivery]:
    """Make the deliveries of an event for an endpoint. `root` is the session that a person sees."""
    return [
        Delivery(
            id=f"{notification_id(event.session, event.seq, kind)}.{endpoint.id}",
            endpoint=endpoint.id,
            type=kind,
            root=root,
            session=event.session,
            seq=event.seq,
            time=event.time,
            node=node,
        )
        for kind in notification_types(event, is_delegate=event.session != root)
        if kind in endpoint.types
    ]
