"""The model catalogue: context sizes and abilities, from names and from the price list in the package."""

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from heald.providers.list_price import find_priced_model, price_provider
from heald.providers.model import Model

if TYPE_CHECKING:
    from heald.providers.prices.price_list import PricedModel

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
    priced = find_priced_model(model.name, price_provider(model))
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


def known_models(provider: str, priced_as: str | None = None) -> list[str]:
    """List the chat models of a provider in the price list. `priced_as` is its name there, if it differs."""
    from heald.providers.prices.price_list import price_list

    listed = price_list().providers
    names = [model.id for entry in listed if entry.id == (priced_as or provider) for model in entry.models]
    return [name for name in names if is_chat_model(name) and name.startswith(_OWN.get(provider, ""))]


def is_chat_model(name: str) -> bool:
    """Whether a model can chat, judged by its name: others make embeddings, images or sound."""
    return re.search(_NO_TOOLS, name) is None


def _per_million(priced: "PricedModel") -> tuple[float | None, float | None]:
    from heald.providers.prices.price_list import base_of

    rates = priced.rates_at(datetime.now(UTC))
    return base_of(rates.input), base_of(rates.output)
