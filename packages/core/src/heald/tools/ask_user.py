"""The tool `ask_user`: a question to the person behind the session."""

from typing import Annotated

import msgspec

from heald.tools.context import ToolContext
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput

PATIENCE = 30 * 24 * 3600.0
"""Timeout of a question in seconds, so long that in effect only the exchange's own limit applies."""

Suggestions = Annotated[list[str], msgspec.Meta(min_length=2, max_length=4)]


@tool(
    effect="none",
    summary=lambda args: f"Ask: {str(args.get('question', ''))[:200]}",
    timeout=PATIENCE,
    idempotent=True,
    sequential=True,
)
async def ask_user(question: str, suggestions: Suggestions, ctx: ToolContext) -> ToolOutput:
    """Ask the user a question and wait for the answer.

    Use it when a choice is theirs and guessing wrong would cost them; not for what you can find out yourself. The user
    may pick a suggestion or answer in other words.

    Args:
        question: One clear question.
        suggestions: Two to four short answers to choose from.
    """
    if not question.strip() or not all(suggestion.strip() for suggestion in suggestions):
        raise ToolFault("The question and each suggestion need some text; ask again with all of them filled in.")
    answer = await ctx.ask(question.strip(), [suggestion.strip() for suggestion in suggestions])
    return ToolOutput(content=answer or "The user gave no answer.", summary=f"Answered: {answer[:200]}")


FAMILY = (ask_user,)
"""The family `ask`."""
