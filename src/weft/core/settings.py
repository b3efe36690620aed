"""How a turn is asked for, in neutral words. A wire translates what its API has and leaves out the rest."""

from typing import Any, Literal

import msgspec

from weft.core.json import JsonObject

ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class Reason(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much a model may think: an effort, or a budget in tokens. A wire converts one into the other."""

    effort: ReasoningEffort | None = None
    budget: int | None = None
    visible: bool = True
    """Ask for readable thinking where the API can give it."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    system: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    stop_sequences: list[str] = []
    reasoning: Reason | None = None
    tool_choice: str = "auto"
    """`auto`, `none`, `required`, or the name of one tool."""
    parallel_tool_calls: bool | None = None
    output_schema: JsonObject | None = None
    """A JSON Schema that the final text must satisfy."""
    cache: bool = True
    """Mark the stable prefix for prompt caching where the API wants it marked."""
    extra: dict[str, Any] = {}
    """Merged into the request body last, for what a provider has and Weft does not name."""
