"""The cost that an answer reports itself."""

from math import isfinite
from typing import Any

from heald.core.json import JsonObject, as_object

_TICKS = 10_000_000_000
"""Ticks of xAI in a dollar: https://docs.x.ai/developers/cost-tracking"""


def read_billed_cost(usage: JsonObject | None) -> float | None:
    """Return the dollars that the provider charges for an answer, if its usage reports them.

    With a key of one's own, OpenRouter reports its fee, and apart from it what the provider charges:
    https://openrouter.ai/docs/cookbook/administration/usage-accounting
    """
    if not usage or ("cost" not in usage and "cost_in_usd_ticks" not in usage):
        return None
    if (ticks := read_amount(usage.get("cost_in_usd_ticks"))) is not None:
        return ticks / _TICKS
    cost = usage.get("cost")
    parts = as_object(cost)
    amounts = map(read_amount, (cost, parts.get("total_cost"), parts.get("usd")))
    billed = next((amount for amount in amounts if amount is not None), None)
    if billed is None or usage.get("is_byok") is not True:
        return billed
    return billed + (read_amount(as_object(usage.get("cost_details")).get("upstream_inference_cost")) or 0.0)


def read_amount(value: Any) -> float | None:
    """Return the value if it is an amount of money."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if isfinite(amount) and amount >= 0 else None
