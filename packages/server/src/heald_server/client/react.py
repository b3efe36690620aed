"""`heald_server.react`: handlers in the words of the agentx dialect on any agent, without a server."""

from collections.abc import Callable
from typing import cast

from heald.agent.interface import AgentInterface
from heald.core.envelope import Event
from heald.core.json import JsonObject
from heald_server.client.handler_queue import AgentXReactor, HandlerQueue
from heald_server.protocols.agentx.dialect import AgentXDialect


def react(agent: AgentInterface, reactor: AgentXReactor) -> Callable[[], None]:
    """Subscribe handlers such as `onToolResult` to an agent, local, stored or remote, and return the function that
    unsubscribes them.

    Handlers have the names, and get the events, of `AgentXClient.react`: `event["data"]["toolId"]`. Handlers with the
    events of the log are subscribed with `agent.subscribe`. Exchanges that began earlier are not reported.
    """
    handlers = HandlerQueue(reactor)
    dialect = AgentXDialect(agent.session)

    def on_event(event: Event) -> None:
        for frame in dialect.feed(event):
            handlers.put(cast("JsonObject", frame.data))  # every frame of this dialect is an object

    return agent.subscribe(on_event).close
