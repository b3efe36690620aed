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
    if completion is not None and reasoning and not _is_beside(prompt or 0, completion, reasoning, total):
        reasoning = min(reasoning, completion)  # it is a part of the completion, whatever was estimated
        completion -= reasoning
    if prompt is not None:
        prompt = max(prompt - (cache_read or 0) - (cache_write or 0), 0)
    return Usage(input=prompt, cache_read=cache_read, cache_write=cache_write, output=completion, reasoning=reasoning)


def _is_beside(prompt: int, completion: int, reasoning: int, total: int | None) -> bool:
    """xAI and some gateways count reasoning beside the completion: the total, or sheer size, gives it away.

    A small excess is no proof: servers that estimate reasoning overshoot by a fifth.
    """
    return total == prompt + completion + reasoning or reasoning > completion * 1.25


def first_known(*figures: int | None) -> int | None:
    return next((figure for figure in figures if figure is not None), None)
