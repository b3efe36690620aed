"""The tool by which a model hands its conversation over to another agent."""

from collections.abc import Sequence
from typing import Any

from heald.agent.agent_profile import AgentProfile
from heald.core.json import JsonObject
from heald.core.messages import ToolDefinition
from heald.tools.context import ToolContext
from heald.tools.definitions import Tool
from heald.tools.tool_fault import ToolFault

HAND_OVER = "hand_over"


def handover_tool(targets: Sequence[AgentProfile]) -> Tool:
    """Make the tool that hands over to one of these agents."""

    async def run(arguments: JsonObject, context: ToolContext[Any]) -> str:
        hand_over = context.host.hand_over if context.host is not None else None
        if hand_over is None:
            raise ToolFault("This conversation cannot be handed over.")
        return await hand_over(str(arguments["agent"]), str(arguments.get("reason", "")), context)

    lines = [
        f"- {target.name}: {target.description}" if target.description else f"- {target.name}" for target in targets
    ]
    definition = ToolDefinition(
        name=HAND_OVER,
        description="\n".join(
            [
                "Hand the conversation over to another agent, which continues it with the user. It sees all messages "
                "so far. Call nothing else in the same message. The agents:",
                *lines,
            ]
        ),
        input_schema={
            "type": "object",
            "properties": {
                "agent": {"type": "string", "enum": [target.name for target in targets]},
                "reason": {"type": "string", "description": "Why, in one sentence."},
            },
            "required": ["agent"],
            "additionalProperties": False,
        },
    )
    return Tool(
        definition=definition,
        run=run,
        effect="none",
        subjects=lambda arguments: [str(arguments.get("agent", ""))],
        summary=lambda arguments: str(arguments.get("agent", "")),
        idempotent=True,  # a repeated call finds the conversation handed over
        sequential=True,  # two hand-overs of one message do not overlap
        from_programs=False,
    )
