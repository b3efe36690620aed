"""What is known of models: context size, abilities, prices. Prices come from `genai-prices`, offline."""

import re
import threading
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from weft.core.usage import Cost, Usage
from weft.providers.model import Model

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo as PricedModel
    from genai_prices.types import ModelPrice

_VISION = re.compile(
    r"gpt-(?:4o|4\.1|4\.5|[5-9])|^o[134](?!-mini-2024)|claude-(?:3|[a-z]+-[4-9])|gemini|pixtral|grok-[4-9]|vision|llava"
    r"|qwen.*-?vl|gemma-?[3-9]|llama-?4|llama-?3\.2-(?:11|90)b|mistral-(?:small-3|medium-3|large-3)|kimi-k2\.5|glm-4\.?\dv",
    re.I,
)
_REASONING = re.compile(
    r"^o[134]|gpt-[5-9]|gpt-oss|claude-(?:3-7|[a-z]+-[4-9])|gemini-(?:2\.5|[3-9])|deepseek-(?:r|v[4-9]|reasoner)|grok-[3-9]"
    r"|qwen-?3|magistral|kimi-k2|glm-(?:4\.[5-9]|[5-9])|thinking|reason",
    re.I,
)
_OWN = {"gemini": ("gemini", "gemma")}
"""How names begin where the price list has models of others beside a provider's own."""
_NO_TOOLS = re.compile(r"embed|whisper|tts|image|dall|moderation|davinci|babbage|rerank|sora|veo|imagen", re.I)


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a model can do and costs. None where nobody has said."""

    name: str
    provider: str
    context_window: int | None = None
    tools: bool = True
    vision: bool = False
    reasoning: bool = False
    input_usd_per_million: float | None = None
    output_usd_per_million: float | None = None


def describe(model: Model) -> ModelInfo:
    """What is known of a model, from its name and the price list."""
    bare = model.name.rpartition("/")[2]
    priced = _find(model.name, _price_provider(model))
    dollars = _per_million(priced) if priced is not None else (None, None)
    return ModelInfo(
        name=model.name,
        provider=model.provider,
        context_window=priced.context_window if priced is not None else None,
        tools=_NO_TOOLS.search(bare) is None,
        vision=_VISION.search(bare) is not None,
        reasoning=_REASONING.search(bare) is not None,
        input_usd_per_million=dollars[0],
        output_usd_per_million=dollars[1],
    )


def price(model: Model, usage: Usage) -> Cost:
    """The list price of a usage. Unknown where the model has no price, or nothing was counted."""
    if usage.total is None or not has_list_price(model):
        return Cost()
    priced = _find(model.name, _price_provider(model))
    if priced is None:
        return Cost()
    prices = priced.get_prices(datetime.now(UTC))
    rates = _rates(prices)
    if rates is None:
        return Cost(usd=_calculate(prices, usage), source="catalogue")
    fresh, read, write, output = rates
    usd = fresh * (usage.input or 0) + read * (usage.cache_read or 0) + write * (usage.cache_write or 0)
    return Cost(usd=usd + output * (usage.total_output or 0), source="catalogue")


class PictureTokens(NamedTuple):
    """What a request for a picture used. The buckets are disjoint."""

    text_in: int
    image_in: int
    text_out: int
    image_out: int


def picture_price(provider: str, model: str, tokens: PictureTokens) -> float | None:
    """The list price of a picture, in dollars; None where the list does not have its model."""
    import genai_prices

    priced = _find(model, provider)
    if priced is None:
        return None
    counted = genai_prices.Usage(
        input_tokens=tokens.text_in + tokens.image_in,
        input_image_tokens=tokens.image_in,
        output_tokens=tokens.text_out + tokens.image_out,
        output_image_tokens=tokens.image_out,
    )
    return float(priced.get_prices(datetime.now(UTC)).calc_price(counted)["total_price"])


def has_list_price(model: Model) -> bool:
    """Whether it is worth a look: an endpoint that is known by its host alone is in no list."""
    provider = _price_provider(model)
    return "." not in provider and ":" not in provider and provider != "localhost"


def is_loaded() -> bool:
    return _loaded.is_set()


def load() -> None:
    """Read the price list. It takes a moment, the first time."""
    from genai_prices import data_snapshot

    data_snapshot.get_snapshot()
    _loaded.set()


_loaded = threading.Event()


def _rates(prices: "ModelPrice") -> tuple[float, float, float, float] | None:
    """Dollars a token, by bucket; None where a price is not simply so much a token."""
    known = _known_rates.get(id(prices))
    if known is not None and known[0] is prices:
        return known[1]
    listed = (prices.input_mtok, prices.cache_read_mtok, prices.cache_write_mtok, prices.output_mtok)
    rates = None
    if all(price is None or isinstance(price, Decimal) for price in listed) and not prices.requests_kcount:
        million = 1_000_000
        units = (Usage(input=million), Usage(cache_read=million), Usage(cache_write=million), Usage(output=million))
        fresh, read, write, output = (_calculate(prices, unit) / million for unit in units)
        rates = (fresh, read, write, output)
    _known_rates[id(prices)] = (prices, rates)
    return rates


_known_rates: "dict[int, tuple[ModelPrice, tuple[float, float, float, float] | None]]" = {}


def _calculate(prices: "ModelPrice", usage: Usage) -> float:
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.total_input or 0,
        cache_read_tokens=usage.cache_read or 0,
        cache_write_tokens=usage.cache_write or 0,
        output_tokens=usage.total_output or 0,
    )
    return float(prices.calc_price(counted)["total_price"])


def known_models(provider: str, priced_as: str | None = None) -> list[str]:
    """The names of a provider's models in the price list, as far as they can be asked for turns.

    `priced_as` is what the price list calls it, where that is something else.
    """
    from genai_prices.data import providers

    names = [m.id for p in providers if p.id == (priced_as or provider) for m in p.models]
    return [name for name in names if can_take_turns(name) and name.startswith(_OWN.get(provider, ""))]


def can_take_turns(name: str) -> bool:
    """Whether a model talks, going by its name: it may as well make vectors, pictures or sound."""
    return _NO_TOOLS.search(name) is None


def _price_provider(model: Model) -> str:
    return model.endpoint.price_provider or model.provider


@lru_cache(maxsize=256)
def _find(name: str, provider: str) -> "PricedModel | None":
    load()
    from genai_prices import data_snapshot

    try:
        return data_snapshot.get_snapshot().find_provider_model(name, None, provider, None)[1]
    except LookupError:
        return None


def _per_million(priced: "PricedModel") -> tuple[float | None, float | None]:
    prices = priced.get_prices(datetime.now(UTC))
    return _amount(getattr(prices, "input_mtok", None)), _amount(getattr(prices, "output_mtok", None))


def _amount(value: object) -> float | None:
    base = getattr(value, "base", value)
    return float(str(base)) if base is not None else None
