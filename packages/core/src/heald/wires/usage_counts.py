"""Token counts in the forms of providers, as disjoint buckets."""

from typing import Any

from heald.core.turn import Usage

_MOST = 1 << 53
"""A count above it is not a count: a float does not hold it exactly."""


def disjoint_usage(
    *,
    prompt: int | None,
    completion: int | None,
    total: int | None,
    cache_read: int | None,
    cache_write: int | None,
    reasoning: int | None,
) -> Usage:
    """Split totals that include their parts, as OpenAI's APIs count them, into disjoint buckets."""
    if completion is not None and reasoning and not _counts_reasoning_apart(prompt or 0, completion, reasoning, total):
        reasoning = min(reasoning, completion)  # an estimate may exceed the completion that includes it
        completion -= reasoning
    if prompt is not None:
        cached = (cache_read or 0) + (cache_write or 0)
        if cached <= prompt:
            prompt -= cached
        elif total is None or total < prompt + cached:  # a part that exceeds the whole is wrong
            cache_read = cache_read and min(cache_read, prompt)
            cache_write = cache_write and min(cache_write, prompt - (cache_read or 0))
            prompt = 0
    return Usage(input=prompt, cache_read=cache_read, cache_write=cache_write, output=completion, reasoning=reasoning)


def _counts_reasoning_apart(prompt: int, completion: int, reasoning: int, total: int | None) -> bool:
    """Whether reasoning is counted beside the completion, as xAI and some gateways do: the total or its size shows it.

    A small excess is not a proof: servers that estimate reasoning overshoot by a fifth.
    """
    return total == prompt + completion + reasoning or reasoning > completion * 1.25


def as_count(value: Any) -> int | None:
    """Return the value if it is a possible number of tokens."""
    return value if type(value) is int and 0 <= value <= _MOST else None


def first_count(*values: Any) -> int | None:
    """Return the first of the values that is a possible number of tokens."""
    for value in values:
        if type(value) is int and 0 <= value <= _MOST:
            return value
    return None
