"""Token counts in the forms of providers, as disjoint buckets."""

from typing import Any

from heald.core.turn import Usage


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
        prompt = max(prompt - (cache_read or 0) - (cache_write or 0), 0)
    return Usage(input=prompt, cache_read=cache_read, cache_write=cache_write, output=completion, reasoning=reasoning)


def _counts_reasoning_apart(prompt: int, completion: int, reasoning: int, total: int | None) -> bool:
    """Whether reasoning is counted beside the completion, as xAI and some gateways do: the total or its size shows it.

    A small excess is no proof: servers that estimate reasoning overshoot by a fifth.
    """
    return total == prompt + completion + reasoning or reasoning > completion * 1.25


def first_int(*values: Any) -> int | None:
    """The first of the values that is an integer."""
    for value in values:
        if type(value) is int:
            return value
    return None
