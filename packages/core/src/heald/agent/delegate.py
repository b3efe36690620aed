"""An agent as a tool of another agent."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from heald.agent.engine import AgentEngine
from heald.agent.result import AgentResult
from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition, user_message
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What to do. The agent knows nothing but what stands here."}
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


Delegation = Callable[[str, ToolContext], Awaitable[tuple[AgentResult, HealdError | None]]]
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
    return Tool(definition=definition, run=run, timeout=24 * 3600.0, summary=lambda arguments: str(arguments["prompt"]))


def delegate(make_engine: Callable[[ToolContext], AgentEngine], name: str, description: str) -> Tool:
    """Make a tool whose calls are conversations of a local agent. `make_engine` makes the engine of one call."""

    async def run_prompt(prompt: str, context: ToolContext) -> tuple[AgentResult, HealdError | None]:
        engine = make_engine(context)
        exchange = engine.submit(user_message(prompt), cause=context.call.id)
        try:
            return await exchange.result(), exchange.error
        finally:
            await engine.conversation.models.close()
            await engine.conversation.runtime.session_objects.close()

    return delegate_tool(name, description, run_prompt)
