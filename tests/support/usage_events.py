"""Events with the usage of an exchange, for tests of what is metered."""

import msgspec

from heald.agent.tracker import ExchangeTracker
from heald.core.envelope import Event, new_event
from heald.core.turn import Usage


def response(session: str, usage: Usage, usd: float | None, number: int = 1) -> Event:
    """The end of an exchange."""
    ended = msgspec.structs.replace(ExchangeTracker().response("completed", 1.0), usage=usage, cost_usd=usd)
    return new_event(number, f"{session}-{number}", session, f"ex_{number}", ended.type, ended.layer, 1.0, 1, ended)
