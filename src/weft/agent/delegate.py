"""An agent as a tool of another agent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from weft.agent.bus import EventBus
from weft.agent.engine import AgentEngine
from weft.agent.result import AgentResult
from weft.core.errors import WeftError
from weft.core.ids import new_id
from weft.core.json import JsonObject
from weft.core.messages import ToolDefinition, user_message
from weft.tools.context import ToolContext
from weft.tools.definitions import Tool
from weft.tools.results import ToolFault, ToolOutput
from weft.tools.runtime import ToolRuntime

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


Delegation = Callable[[str, ToolContext], Awaitable[tuple[AgentResult, WeftError | None]]]
"""Runs a prompt in a new conversation. Returns the result, and the error of a failed exchange."""


def delegate_tool(name: str, description: str, run_prompt: Delegation) -> Tool:
    """Make a tool whose calls are conversations of another agent."""

    async def run(arguments: JsonObject, context: ToolContext) -> Any:
        await asyncio.sleep(0)  # a call that was cancelled at its start begins nothing
        result, error = await run_prompt(str(arguments["prompt"]), context)
        if error is not None:
            raise ToolFault(f"The agent failed: {error}")
        if result.status == "cancelled":
            raise ToolFault("The agent was cancelled.", status="cancelled")
        text = result.text.strip()
        if result.note is not None:
            text = f"{text}\n\n({result.note})".strip()
        return ToolOutput(content=text, is_error=result.status != "completed")

    definition = ToolDefinition(name=name, description=description, input_schema=_SCHEMA)
    return Tool(definition=definition, run=run, timeout=24 * 3600.0, summary=lambda given: str(given["prompt"]))


def delegate(agent: "Agent", name: str, description: str) -> Tool:
    """Make a local agent a tool of another one."""

    async def run_prompt(prompt: str, context: ToolContext) -> tuple[AgentResult, WeftError | None]:
        engine = _engine_for(agent, context)
        exchange = engine.submit(user_message(prompt), cause=context.call.id)
        try:
            return await exchange.result(), exchange.error
        finally:
            await engine.models.close()
            await engine.runtime.session_objects.close()

    return delegate_tool(name, description, run_prompt)


def _engine_for(agent: "Agent", context: ToolContext) -> AgentEngine:
    """Make a new conversation of the agent that shares locks, approvals and budget with its caller."""
    host = context.host
    bus = EventBus(new_id("ses"))
    relay = host.relay if host is not None else None
    if relay is not None:
        bus.subscribe(lambda event: relay(event, event.session == bus.session))
    shared = host.shared_middleware if host is not None else ()
    runtime = ToolRuntime(
        agent.runtime.registry,
        workspace=context.workspace if host is not None else agent.runtime.workspace,
        permissions=agent.runtime.permissions,
        middleware=[*shared, *agent.runtime.middleware],
        locks=host.locks if host is not None else None,
        approvals=host.approvals if host is not None else None,
        client_calls=host.client_calls if host is not None else None,
        client_tool_timeout=agent.runtime.client_tool_timeout,
    )
    runtime.shared_middleware = shared
    if host is not None:
        runtime.whole_results = host.whole_results
    budget = agent.engine.budget
    if host is not None and host.remaining_budget is not None:
        budget = budget.within(host.remaining_budget())
    return AgentEngine(agent.engine.models.fresh(), runtime, bus, settings=agent.settings, budget=budget)
