"""The usage of Anthropic Messages: its buckets, tier, searches, and the requests that were made for one answer.

https://platform.claude.com/docs/en/build-with-claude/compaction-threshold
"""

from heald.core.json import JsonObject, as_object, as_objects
from heald.core.turn import Iteration, Usage
from heald.wires.service_tier import read_tier
from heald.wires.usage_counts import as_count

_ANSWER_KINDS = frozenset({"message", "fallback_message"})
"""The kinds of iterations whose tokens are in the figures of the answer. Those of summaries and advisors are not."""
_LONG = ("ephemeral_1h_input_tokens", "ephemeral_24h_input_tokens")


def parse_usage(raw: JsonObject) -> Usage:
    answer = _read_iteration(raw | {"type": "message", "model": None})
    iterations = [_read_iteration(entry) for entry in as_objects(raw.get("iterations"))]
    others = [iteration for iteration in iterations if iteration.kind not in _ANSWER_KINDS]
    if _sum([iteration for iteration in iterations if iteration.kind in _ANSWER_KINDS]) != _sum([answer]):
        iterations = [answer, *others]
    reasoning = as_count(as_object(raw.get("output_tokens_details")).get("thinking_tokens"))
    visible = max(answer.output - (reasoning or 0), 0)
    searches = as_count(as_object(raw.get("server_tool_use")).get("web_search_requests"))
    whole = _sum([answer, *others])
    return Usage(
        input=_if_known(raw, whole.input, "input_tokens", others),
        cache_read=_if_known(raw, whole.cache_read, "cache_read_input_tokens", others),
        cache_write=whole.cache_write
        if whole.cache_write
        else _if_known(raw, 0, "cache_creation_input_tokens", others),
        output=_if_known(raw, visible + sum(iteration.output for iteration in others), "output_tokens", others),
        reasoning=reasoning,
        cache_write_1h=whole.cache_write_1h or None,
        server_tools={"web_search": searches} if searches else {},
        tier="fast" if raw.get("speed") == "fast" else read_tier(raw.get("service_tier")),
        iterations=iterations if _matters(iterations) else [],
    )


def _if_known(raw: JsonObject, tokens: int, name: str, others: list[Iteration]) -> int | None:
    """Return the tokens; None if neither the answer nor another request reports them."""
    return tokens if others or as_count(raw.get(name)) is not None else None


def _matters(iterations: list[Iteration]) -> bool:
    """Whether the price is not that of one request to one model."""
    return len(iterations) > 1 or any(iteration.kind != "message" for iteration in iterations)


def _read_iteration(entry: JsonObject) -> Iteration:
    stored = as_object(entry.get("cache_creation"))
    short = as_count(stored.get("ephemeral_5m_input_tokens")) or 0
    long = sum(as_count(stored.get(name)) or 0 for name in _LONG)
    written = as_count(entry.get("cache_creation_input_tokens"))
    written = short + long if written is None else written
    model = entry.get("model")
    return Iteration(
        kind=str(entry.get("type") or "message")[:40],
        model=model if isinstance(model, str) and model else None,
        input=as_count(entry.get("input_tokens")) or 0,
        cache_read=as_count(entry.get("cache_read_input_tokens")) or 0,
        cache_write=written,
        output=as_count(entry.get("output_tokens")) or 0,
        # A later total has no parts: what was added is stored as long as the rest.
        cache_write_1h=max(written - short, 0) if long else 0,
    )


def _sum(iterations: list[Iteration]) -> Iteration:
    return Iteration(
        "sum",
        input=sum(iteration.input for iteration in iterations),
        cache_read=sum(iteration.cache_read for iteration in iterations),
        cache_write=sum(iteration.cache_write for iteration in iterations),
        output=sum(iteration.output for iteration in iterations),
        cache_write_1h=sum(iteration.cache_write_1h for iteration in iterations),
    )
