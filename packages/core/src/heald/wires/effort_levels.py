"""The efforts of reasoning that a provider's models accept, and the nearest one to an effort that they do not.

Groq: https://console.groq.com/docs/reasoning#reasoning-effort
Gemini: https://ai.google.dev/gemini-api/docs/thinking#thinking-levels
"""

import re
from collections.abc import Sequence

from heald.core.lazy import lazy_pattern
from heald.core.turn import ReasoningEffort

_ORDER: tuple[ReasoningEffort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_SWITCH = ("none", "default")
"""The levels of models that think or do not."""
_LEVELS: dict[str, tuple[tuple[str, Sequence[str]], ...]] = {
    "groq": (
        (r"gpt-oss", ("low", "medium", "high")),
        (r"qwen3\.8", ("none", "low", "medium", "high")),
        (r"qwen", _SWITCH),
        (r"", ()),
    ),
}
"""The levels of a provider's models by a pattern of their names; the first counts. With none, the field is refused."""
_GEMINI = lazy_pattern(r"gemini-(\d+)(?:\.(\d+))?-(pro|flash)(-lite)?")


def find_level(effort: ReasoningEffort, provider: str, model: str) -> str | None:
    """Return the level to send for an effort; None if the model accepts no level at all."""
    levels = next((levels for name, levels in _LEVELS.get(provider, ()) if re.search(name, model)), _ORDER)
    if levels == _SWITCH:
        return "none" if effort == "none" else "default"
    return nearest_level(effort, levels)


def find_thinking_level(effort: ReasoningEffort, model: str) -> str:
    """Return the thinking level of a Gemini model from 3 on."""
    return nearest_level(effort, _thinking_levels(model)) or "low"


def nearest_level(effort: ReasoningEffort, levels: Sequence[str]) -> str | None:
    """Return the highest of the levels that does not exceed an effort, or else the lowest that thinks."""
    if effort in levels:
        return effort
    if not levels:
        return None
    rank = _ORDER.index(effort)
    thinking = [level for level in _ORDER if level in levels and level != "none"]
    return next((level for level in reversed(thinking) if _ORDER.index(level) <= rank), thinking[0])


def _thinking_levels(model: str) -> Sequence[str]:
    """Gemini 3 Pro has two levels. Other Pro models, and Flash from 3.7 on, have three; the rest also has `minimal`."""
    named = _GEMINI.search(model)
    if named is None:
        return ("low", "medium", "high")
    version, kind, is_lite = (int(named[1]), int(named[2] or 0)), named[3], bool(named[4])
    if kind == "pro":
        return ("low", "high") if version == (3, 0) else ("low", "medium", "high")
    if version >= (3, 7) and not is_lite:
        return ("low", "medium", "high")
    return ("minimal", "low", "medium", "high")
