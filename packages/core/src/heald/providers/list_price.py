"""List prices of turns and pictures, from the price list in the package."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from heald.core.turn import Cost, Usage
from heald.providers.model import Model

if TYPE_CHECKING:
    from heald.providers.prices.price_list import PricedModel


def price(model: Model, usage: Usage) -> Cost:
    """Return the list price of a usage; unknown if the model has none or nothing was counted."""
    if usage.total is None or not has_list_price(model):
        return Cost()
    priced = find_priced_model(model.name, price_provider(model))
    if priced is None:
        return Cost()
    from heald.providers.prices.price_list import TokenCounts

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
    priced = find_priced_model(model, provider)
    if priced is None:
        return None
    from heald.providers.prices.price_list import TokenCounts

    counted = TokenCounts(
        input=tokens.text_in, image_input=tokens.image_in, output=tokens.text_out, image_output=tokens.image_out
    )
    return priced.rates_at(datetime.now(UTC)).dollars(counted)


def has_list_price(model: Model) -> bool:
    """Whether the list may have the model: endpoints that are named by their host are in no list."""
    provider = price_provider(model)
    return "." not in provider and ":" not in provider and provider != "localhost"


def is_loaded() -> bool:
    from heald.providers.prices.price_list import is_read

    return is_read()


def load() -> None:
    """Read the price list, which takes some milliseconds the first time."""
    from heald.providers.prices.price_list import price_list  # a start of a command does not wait for it

    price_list()


def price_provider(model: Model) -> str:
    """Return the name of a model's provider in the price list."""
    return model.endpoint.price_provider or model.provider


@lru_cache(maxsize=256)
def find_priced_model(name: str, provider: str) -> "PricedModel | None":
    """Find a model in the price list."""
    from heald.providers.prices.price_list import price_list

    return price_list().find(provider, name)
