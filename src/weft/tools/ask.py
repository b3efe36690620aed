"""`ask_user`: a question that only the person can answer."""

from typing import Annotated

import msgspec

from weft.core.json import JsonObject
from weft.tools.context import ToolContext
from weft.tools.function import tool
from weft.tools.outcome import ToolFault, ToolOutput

PATIENCE = 30 * 24 * 3600.0
"""Seconds that a question stays open. People take their time: in effect there is no limit but the exchange's own."""

Suggestions = Annotated[list[str], msgspec.Meta(min_length=2, max_length=4)]


def _summary(args: JsonObject) -> str:
    return f"Ask: {str(args.get('question', ''))[:200]}"


@tool(effect="none", summary=_summary, timeout=PATIENCE, sequential=True)
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
