"""The parameters of one request of a client, over the settings of the agent."""

import msgspec

from heald.agent.agent import Agent
from heald.core.json import JsonObject
from heald.core.turn import Settings


def apply_request_settings(agent: Agent, request: JsonObject) -> None:
    """Apply the parameters of a request from the next turn on, over the settings of the agent."""
    settings = msgspec.convert(request, Settings)
    changes = {name: getattr(settings, name) for name in request}
    if settings.extra:
        changes["extra"] = {**agent.settings.extra, **settings.extra}
    agent.override_settings(changes)
