"""List prices of turns and pictures, from the price list in the package."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from heald.core.turn import IMAGE_GENERATION, Cost, Iteration, Usage, single_request
from heald.providers.model import Model

if TYPE_CHECKING:
    from heald.providers.prices.price_list import PricedModel


def price(model: Model, usage: Usage) -> Cost:
    """Return the list price of a usage; unknown if a part of it has none or nothing was counted."""
    if usage.total is None or not has_list_price(model):
        return Cost()
    provider = price_provider(model)
    priced = find_priced_model(model.name, provider)
    if priced is None:
        return Cost()
    from heald.providers.prices.price_list import price_list
    from heald.providers.prices.tool_prices import tool_dollars

    listed = price_list().provider(provider)
    seller = listed.id if listed is not None else provider
    rates = priced.rates_at(datetime.now(UTC))
    tools = tool_dollars(seller, model.name, rates, usage.server_tools) if usage.server_tools else 0.0
    requests = [_request_dollars(seller, model.name, usage.tier, request) for request in _requests(usage)]
    total = 0.0
    for dollars in (tools, *requests):
        if dollars is None:
            return Cost()
        total += dollars
    return Cost(usd=total, source="catalogue")


def _requests(usage: Usage) -> list[Iteration]:
    """Return the requests that the provider made for an answer. The price of each depends on its own size."""
    return usage.iterations or [single_request(usage)]


def _request_dollars(seller: str, model: str, tier: str | None, request: Iteration) -> float | None:
    """Return the price of one request; None if it is not known. A tool's own model has no tiers."""
    from heald.providers.prices.price_list import TokenCounts
    from heald.providers.prices.service_tiers import tier_factor

    name = request.model or model
    priced = find_priced_model(name, seller)
    if priced is None and request.kind == "message":  # another name of the same model
        priced = find_priced_model(model, seller)
    factor = 1.0 if request.kind == IMAGE_GENERATION else tier_factor(seller, name, tier)
    if priced is None or factor is None:
        return None
    stored_1h = min(request.cache_write_1h, request.cache_write)
    tokens = TokenCounts(
        input=request.input,
        cache_read=request.cache_read,
        cache_write=request.cache_write - stored_1h,
        image_input=request.image_input,
        output=request.output,
        image_output=request.image_output,
        cache_write_1h=stored_1h,
    )
    return priced.rates_at(datetime.now(UTC)).dollars(tokens) * factor


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
