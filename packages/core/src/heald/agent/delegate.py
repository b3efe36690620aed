"""An agent as a tool of another agent."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from heald.agent.engine import AgentEngine
from heald.agent.result import AgentResult
from heald.core.errors import HealdError
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition, user_message
from heald.tools.context import ToolContext
from heald.tools.function_tools import FunctionTool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.type_schema import TypeSchema

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What to do. The agent knows nothing but what stands here."}
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


Delegation = Callable[[str, ToolContext | None], Awaitable[tuple[AgentResult[Any], HealdError | None]]]
"""Runs a prompt in a new conversation: for a call of an agent, or for the program itself. Returns the result, and the
error of a failed exchange."""


def delegate_tool(
    name: str, description: str, run_prompt: Delegation, deps_types: tuple[Any, ...] = ()
) -> FunctionTool[[str], Coroutine[Any, Any, Any]]:
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

    async def answer(prompt: str) -> Any:
        result, error = await run_prompt(prompt, None)
        if error is not None:
            raise error
        return result.text if result.output is None else result.output

    definition = ToolDefinition(name=name, description=description, input_schema=_SCHEMA)
    return FunctionTool(
        definition=definition,
        run=run,
        function=answer,
        timeout=24 * 3600.0,
        summary=lambda arguments: str(arguments["prompt"]),
        deps_types=deps_types,
    )


def delegate(
    make_engine: Callable[[ToolContext | None], AgentEngine],
    name: str,
    description: str,
    shape: TypeSchema | None,
    deps_types: tuple[Any, ...],
) -> FunctionTool[[str], Coroutine[Any, Any, Any]]:
    """Make a tool whose calls are conversations of a local agent. `make_engine` makes the engine of one call, `shape`
    is the type of its answers, and `deps_types` are those that its tools need."""

    async def run_prompt(prompt: str, context: ToolContext | None) -> tuple[AgentResult[Any], HealdError | None]:
        engine = make_engine(context)
        cause, deps = (context.call.id, context.deps) if context is not None else (None, None)
        exchange = engine.submit(user_message(prompt), shape=shape, cause=cause, deps=deps)
        try:
            return await exchange.result(), exchange.error
        finally:
            await engine.conversation.models.close()
            await engine.conversation.runtime.session_objects.close()

    return delegate_tool(name, description, run_prompt, deps_types)
