"""What pictures cost: noted where a provider's answer comes in, and heard by whoever asked for the picture.

Providers bill tokens, which their answers count; the price list knows what those cost. Where a provider counts nothing,
or the list does not have its model, the price is not known, and that is what is noted.
"""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

from weft.core.json import JsonObject, as_object, as_objects
from weft.providers.catalogue import PictureTokens, picture_price

Spend = Callable[[float | None], object]

_hearing: ContextVar[Spend | None] = ContextVar("weft_picture_costs", default=None)


@contextmanager
def spending(spend: Spend) -> Generator[None]:
    """Hear what is paid for pictures inside, each time it is: in dollars, or None where nobody knows."""
    token = _hearing.set(spend)
    try:
        yield
    finally:
        _hearing.reset(token)


async def note(provider: str, model: str, tokens: PictureTokens | None) -> None:
    """A provider has made a picture, or tried to, and counted so much."""
    spend = _hearing.get()
    if spend is not None:
        spend(await asyncio.to_thread(picture_price, provider, model, tokens) if tokens is not None else None)


def openai_tokens(answer: JsonObject) -> PictureTokens | None:
    """As the images API counts them. Output that is not told apart is the picture."""
    usage = as_object(answer.get("usage"))
    taken, given = _count(usage.get("input_tokens")), _count(usage.get("output_tokens"))
    if taken is None or given is None:
        return None
    shown = _count(as_object(usage.get("input_tokens_details")).get("image_tokens")) or 0
    said = _count(as_object(usage.get("output_tokens_details")).get("text_tokens")) or 0
    return PictureTokens(taken - min(shown, taken), shown, said, given - min(said, given))


def gemini_tokens(answer: JsonObject) -> PictureTokens | None:
    """As `generateContent` counts them. What it thought is billed like text."""
    usage = as_object(answer.get("usageMetadata"))
    taken, given = _count(usage.get("promptTokenCount")), _count(usage.get("candidatesTokenCount"))
    if taken is None or given is None:
        return None
    details = as_objects(usage.get("candidatesTokensDetails"))
    drawn = sum(_count(each.get("tokenCount")) or 0 for each in details if each.get("modality") == "IMAGE")
    drawn = min(drawn, given) if details else given
    return PictureTokens(taken, 0, given - drawn + (_count(usage.get("thoughtsTokenCount")) or 0), drawn)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
