"""The notifications as a plugin of the server."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from heald_server.protocols.protocol import ClientProtocol

if TYPE_CHECKING:
    from heald_server.context import ServerContext
    from heald_server.http.operations import Operation


def _routes(context: "ServerContext", schedule: Sequence[float] | None = None) -> "list[Operation]":
    from heald_notify.notifier import Notifier
    from heald_notify.routes import NotifyRoutes

    notifier = Notifier(context, schedule) if schedule is not None else Notifier(context)
    context.protocol_state["notify"] = notifier
    return NotifyRoutes(notifier).operations()


PROTOCOL = ClientProtocol(name="notify", routes=_routes)
