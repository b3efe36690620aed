"""An agent that works for another one, as a tool.

Each call is a conversation of its own, in a session of its own, in the same workspace. Its events are heard where the
other's are; ending the other's call ends it, and its end ends nothing but the call.
"""

import asyncio
from typing import TYPE_CHECKING, Any

from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.core.messages import user
from weft.core.tools import ToolDefinition
from weft.tools.context import ToolContext
from weft.tools.outcome import ToolFault, ToolOutput
from weft.tools.runtime import ToolRuntime
from weft.tools.tool import Tool

if TYPE_CHECKING:
    from weft.agent.agent import Agent

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What to do. The agent knows nothing but what stands here."}
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


def delegate(agent: "Agent", name: str, description: str) -> Tool:
    async def run(arguments: JsonObject, context: ToolContext) -> Any:
        await asyncio.sleep(0)  # one that was cancelled as it was called begins nothing
        engine = _engine_for(agent, context)
        exchange = engine.submit(user(str(arguments["prompt"])), cause=context.call.id)
        try:
            result = await exchange.result()
        finally:
            await engine.models.close()
            await engine.runtime.keep.close()
        if exchange.error is not None:
            raise ToolFault(f"The agent failed: {exchange.error}")
        if result.status == "cancelled":
            raise ToolFault("The agent was cancelled.", status="cancelled")
        said = result.text.strip()
        if result.note is not None:
            said = f"{said}\n\n({result.note})".strip()
        return ToolOutput(content=said, is_error=result.status != "completed")

    definition = ToolDefinition(name=name, description=description, input_schema=_SCHEMA)
    return Tool(definition=definition, run=run, timeout=24 * 3600.0, summary=lambda given: str(given["prompt"]))


def _engine_for(agent: "Agent", context: ToolContext) -> AgentEngine:
    """A fresh conversation of the agent, with what it shares with the one it works for."""
    host = context.host
    bus = EventBus(new_id("ses"))
    relay = host.relay if host is not None else None
    if relay is not None:
        bus.subscribe(lambda event: relay(event, event.session == bus.session))
    shared = host.shared if host is not None else ()
    runtime = ToolRuntime(
        agent.runtime.registry,
        workspace=context.workspace if host is not None else agent.runtime.workspace,
        permissions=agent.runtime.permissions,
        middleware=[*shared, *agent.runtime.middleware],
        locks=host.locks if host is not None else None,
        approvals=host.approvals if host is not None else None,
    )
    runtime.shared = shared
    budget = agent.engine.budget
    if host is not None and host.left is not None:
        budget = budget.within(host.left())
    return AgentEngine(agent.engine.models.fresh(), runtime, bus, settings=agent.settings, budget=budget)
