"""What a call paid for its pictures, in a sentence of its result."""

from weft.tools.context import ToolContext


def paid(ctx: ToolContext) -> str:
    """Nothing where it cost nothing."""
    if ctx.spent is None:
        return "What this cost is not known: there is no list price for it."
    return f"This cost ${ctx.spent:.4f}." if ctx.spent else ""
