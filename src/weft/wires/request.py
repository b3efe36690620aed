"""What every wire builds its request from."""

import re
from typing import Any

import msgspec

from weft.core.json import JsonObject
from weft.core.messages import Message
from weft.core.settings import Reason, ReasoningEffort, Settings
from weft.core.tools import ToolDefinition
from weft.wires.quirks import NONE, Quirks

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9_-]")
_NOT_IN_IDS = re.compile(r"[^a-zA-Z0-9_-]")

_BUDGETS: dict[ReasoningEffort, int] = {
    "none": 0,
    "minimal": 1024,
    "low": 2048,
    "medium": 8192,
    "high": 24576,
    "xhigh": 32768,
}


class TurnRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One turn, in neutral words."""

    model: str
    messages: list[Message]
    tools: list[ToolDefinition] = []
    settings: Settings = Settings()
    provider: str = ""
    quirks: Quirks = NONE
    cache: Any = None
    """A `RenderCache` of the conversation, where turns follow each other."""


def legal_name(name: str) -> str:
    """A tool name as every API accepts it. Models invent names; a replay with one must not be refused."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"


def legal_id(call_id: str) -> str:
    """A call id in the common character set and length."""
    return _NOT_IN_IDS.sub("_", call_id)[:64] or "_"


def effort_of(reason: Reason) -> ReasoningEffort | None:
    """The effort asked for, or the one nearest to the budget."""
    if reason.effort is not None or reason.budget is None:
        return reason.effort
    budget = reason.budget
    return min(_BUDGETS, key=lambda effort: abs(_BUDGETS[effort] - budget))


def budget_of(reason: Reason) -> int | None:
    """The budget asked for, or the one that stands for the effort."""
    if reason.budget is not None or reason.effort is None:
        return reason.budget
    return _BUDGETS[reason.effort]


def data_url(media_type: str, data: str) -> str:
    return f"data:{media_type};base64,{data}"


def without_none(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
