"""Collects the costs of generated pictures."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from heald.core.json import JsonObject, as_object, as_objects
from heald.providers.list_price import PictureTokens, picture_price

CostCallback = Callable[[float | None], object]

_cost_callback: ContextVar[CostCallback | None] = ContextVar("heald_picture_costs", default=None)


@contextmanager
def collect_costs(spend: CostCallback) -> Generator[None]:
    """Call `spend` with the cost of each picture that is made inside: in dollars, None if the price is unknown."""
    token = _cost_callback.set(spend)
    try:
        yield
    finally:
        _cost_callback.reset(token)


async def record_cost(provider: str, model: str, tokens: PictureTokens | None) -> None:
    """Report the cost of a request. Providers bill tokens; without a count the cost is unknown."""
    spend = _cost_callback.get()
    if spend is not None:
        spend(await asyncio.to_thread(picture_price, provider, model, tokens) if tokens is not None else None)


def openai_tokens(answer: JsonObject) -> PictureTokens | None:
    """Read the usage of the images API. Output without details counts as picture."""
    usage = as_object(answer.get("usage"))
    read, written = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    if read is None or written is None:
        return None
    image = _count(as_object(usage.get("input_tokens_details")).get("image_tokens")) or 0
    text = _count(as_object(usage.get("output_tokens_details")).get("text_tokens")) or 0
    return PictureTokens(read - min(image, read), image, text, written - min(text, written))


def gemini_tokens(answer: JsonObject) -> PictureTokens | None:
    """Read the usage of `generateContent`. Thoughts are billed as text."""
    usage = as_object(answer.get("usageMetadata"))
    read, written = _count(usage.get("promptTokenCount")), _count(usage.get("candidatesTokenCount"))
    if read is None or written is None:
        return None
    details = as_objects(usage.get("candidatesTokensDetails"))
    drawn = sum(_count(detail.get("tokenCount")) or 0 for detail in details if detail.get("modality") == "IMAGE")
    drawn = min(drawn, written) if details else written
    return PictureTokens(read, 0, written - drawn + (_count(usage.get("thoughtsTokenCount")) or 0), drawn)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
