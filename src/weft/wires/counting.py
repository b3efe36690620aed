"""Tokens as APIs of OpenAI's kind count them: totals that include their parts. Ours are disjoint."""

from weft.core.usage import Usage


def disjoint(
    *,
    prompt: int | None,
    completion: int | None,
    total: int | None,
    cache_read: int | None,
    cache_write: int | None,
    reasoning: int | None,
) -> Usage:
    """The buckets of a prompt that includes its cached part and a completion that includes its reasoning."""
    beside = total is not None and total == (prompt or 0) + (completion or 0) + (reasoning or 0)
    if completion is not None and reasoning and not beside:  # xAI counts reasoning beside the completion
        completion = max(completion - reasoning, 0)
    if prompt is not None:
        prompt = max(prompt - (cache_read or 0) - (cache_write or 0), 0)
    return Usage(input=prompt, cache_read=cache_read, cache_write=cache_write, output=completion, reasoning=reasoning)


def first_known(*figures: int | None) -> int | None:
    return next((figure for figure in figures if figure is not None), None)
