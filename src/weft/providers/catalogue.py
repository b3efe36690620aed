"""The model catalogue: context sizes, abilities and prices, from names and from the price list in the package."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from weft.core.lazy import lazy_pattern
from weft.core.turn import Cost, Usage
from weft.providers.model import Model

if TYPE_CHECKING:
    from weft.providers.prices.price_list import PricedModel

_VISION = (
    r"(?i)gpt-(?:4o|4\.1|4\.5|[5-9])|^o[134](?!-mini-2024)|claude-(?:3|[a-z]+-[4-9])|gemini|pixtral|grok-[4-9]|vision"
    r"|llava|qwen.*-?vl|gemma-?[3-9]|llama-?4|llama-?3\.2-(?:11|90)b|mistral-(?:small-3|medium-3|large-3)"
    r"|kimi-k2\.5|glm-4\.?\dv"
)
_REASONING = (
    r"(?i)^o[134]|gpt-[5-9]|gpt-oss|claude-(?:3-7|[a-z]+-[4-9])|gemini-(?:2\.5|[3-9])|deepseek-(?:r|v[4-9]|reasoner)"
    r"|grok-[3-9]|qwen-?3|magistral|kimi-k2|glm-(?:4\.[5-9]|[5-9])|thinking|reason"
)
_OWN = {"gemini": ("gemini", "gemma")}
"""Prefixes of a provider's own models, where the price list has models of others as well."""
_NO_TOOLS = r"(?i)embed|whisper|tts|image|dall|moderation|davinci|babbage|rerank|sora|veo|imagen"


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The abilities and prices of a model. None means unknown."""

    name: str
    provider: str
    context_window: int | None = None
    tools: bool = True
    vision: bool = False
    reasoning: bool = False
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


def describe_model(model: Model) -> ModelInfo:
    """Describe a model from its name and the price list."""
    bare = model.name.rpartition("/")[2]
    priced = _find(model.name, _price_provider(model))
    dollars = _per_million(priced) if priced is not None else (None, None)
    return ModelInfo(
        name=model.name,
        provider=model.provider,
        context_window=priced.context_window if priced is not None else None,
        tools=re.search(_NO_TOOLS, bare) is None,
        vision=re.search(_VISION, bare) is not None,
        reasoning=re.search(_REASONING, bare) is not None,
        input_usd_per_million=dollars[0],
        output_usd_per_million=dollars[1],
    )


def price(model: Model, usage: Usage) -> Cost:
    """Return the list price of a usage; unknown if the model has none or nothing was counted."""
    if usage.total is None or not has_list_price(model):
        return Cost()
    priced = _find(model.name, _price_provider(model))
    if priced is None:
        return Cost()
    from weft.providers.prices.price_list import TokenCounts

    tokens = TokenCounts(
        input=usage.input or 0,
        cache_read=usage.cache_read or 0,
        cache_write=usage.cache_write or 0,
        output=usage.total_output or 0,
    )
    return Cost(usd=priced.rates_at(datetime.now(UTC)).dollars(tokens), source="catalogue")


class PictureTokens(msgspec.Struct, frozen=True):
    """The usage of an image request. The buckets are disjoint."""

    text_in: int
    image_in: int
    text_out: int
    image_out: int


def picture_price(provider: str, model: str, tokens: PictureTokens) -> float | None:
    """Return the list price of an image in dollars; None if the list does not have its model."""
    priced = _find(model, provider)
    if priced is None:
        return None
    from weft.providers.prices.price_list import TokenCounts

    counted = TokenCounts(
        input=tokens.text_in, image_input=tokens.image_in, output=tokens.text_out, image_output=tokens.image_out
    )
    return priced.rates_at(datetime.now(UTC)).dollars(counted)


def has_list_price(model: Model) -> bool:
    """Whether the list may have the model: endpoints that are named by their host are in no list."""
    provider = _price_provider(model)
    return "." not in provider and ":" not in provider and provider != "localhost"


def is_loaded() -> bool:
    from weft.providers.prices.price_list import is_read

    return is_read()


def load() -> None:
    """Read the price list, which takes some milliseconds the first time."""
    from weft.providers.prices.price_list import price_list  # a start of a command does not wait for it

    price_list()


def known_models(provider: str, priced_as: str | None = None) -> list[str]:
    """List the chat models of a provider in the price list. `priced_as` is its name there, if it differs."""
    from weft.providers.prices.price_list import price_list

    listed = price_list().providers
    names = [model.id for each in listed if each.id == (priced_as or provider) for model in each.models]
    return [name for name in names if is_chat_model(name) and name.startswith(_OWN.get(provider, ""))]


def is_chat_model(name: str) -> bool:
    """Whether a model can chat, judged by its name: others make embeddings, images or sound."""
    return re.search(_NO_TOOLS, name) is None


_PARAMETERS = lazy_pattern(r"(?<![\w.])(?:\d+x)?(\d+(?:\.\d+)?)\s?b(?![a-z0-9])", re.I)
_SMALL_PARAMETERS = 4.0


def is_small_model(name: str, parameters: int | None = None) -> bool:
    """Whether a model has fewer than four billion parameters: such models call tools badly.

    The name states the number, or else `parameters` does, from the server.
    """
    sizes = _sizes(name)
    if not sizes and parameters is not None:
        return parameters < _SMALL_PARAMETERS * 1e9
    return bool(sizes) and max(sizes) < _SMALL_PARAMETERS


def names_parameters(name: str) -> bool:
    """Whether the name of a model states its number of parameters."""
    return bool(_sizes(name))


def _sizes(name: str) -> list[float]:
    return [float(size) for size in _PARAMETERS.findall(name.replace("_", "-"))]


def _price_provider(model: Model) -> str:
    return model.endpoint.price_provider or model.provider


@lru_cache(maxsize=256)
def _find(name: str, provider: str) -> "PricedModel | None":
    from weft.providers.prices.price_list import price_list

    return price_list().find(provider, name)


def _per_million(priced: "PricedModel") -> tuple[float | None, float | None]:
    from weft.providers.prices.price_list import base_of

    rates = priced.rates_at(datetime.now(UTC))
    return base_of(rates.input), base_of(rates.output)
