"""Models that are agents with a loop, tools and a memory of their own, such as `acp/opencode`."""

from heald.core.errors import HealdError
from heald.providers.families import find_family
from heald.providers.resolve import find


def is_agent(name: str) -> bool:
    """Whether a model is such an agent: it works with its own tools in a copy of the project, and uses none of ours."""
    if find_family(name.partition("/")[0]) is None:
        return False
    try:
        return bool(getattr(find(name), "is_agent", False))
    except HealdError:
        return False
