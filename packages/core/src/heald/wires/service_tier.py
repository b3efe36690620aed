"""The service tier that an answer names, in one word for all providers."""

from typing import Any

_STANDARD = frozenset(
    {"", "auto", "default", "standard", "standard_only", "on_demand", "unspecified"}
    | {"traffic_type_unspecified", "provisioned_throughput", "on_demand_offpeak"}
)
"""Names of the tier that is paid at the standard price, and of capacity that is paid in advance."""
_WORDS = {"on_demand_flex": "flex", "on_demand_priority": "priority"}


def read_tier(name: Any) -> str | None:
    """Return the tier by its name in an answer; None for the standard one."""
    if not isinstance(name, str):
        return None
    word = name.lower().removeprefix("service_tier_")
    return None if word in _STANDARD else _WORDS.get(word, word[:40])
