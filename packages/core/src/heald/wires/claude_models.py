"""The limits and abilities of Claude models, read from their names."""

from heald.core.lazy import lazy_pattern
from heald.core.turn import ReasoningEffort

_VERSION = lazy_pattern(r"claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2})(?!\d))?")


def model_version(model: str) -> tuple[int, int]:
    version = _VERSION.search(model)
    return (int(version[1]), int(version[2] or 0)) if version else (99, 0)


def is_adaptive(model: str) -> bool:
    """Models from 4.6 on choose themselves how much to think."""
    return model_version(model) >= (4, 6)


def refuses_sampling(model: str) -> bool:
    """Models from 4.7 on refuse `temperature`, `top_p` and a budget for thinking."""
    return model_version(model) >= (4, 7)


def refuses_forced_call(model: str) -> bool:
    """Models up to 4.7 refuse a tool choice that forces a call beside thinking."""
    return model_version(model) <= (4, 7)


def find_effort(effort: ReasoningEffort, model: str) -> str:
    """Return the effort as the API names it; `xhigh` is known from 4.7 on."""
    if effort == "minimal":
        return "low"
    return "high" if effort == "xhigh" and model_version(model) < (4, 7) else effort


def default_max_tokens(model: str) -> int:
    """The API requires a limit. This one is as large as all models of the family accept."""
    version = model_version(model)
    if version < (3, 5):
        return 4096
    return 8192 if version < (3, 7) else 32000
