"""List prices of models: providers, their models, the rates that apply at a time, and the arithmetic.

`packages/core/make_prices.py` writes the list into the package. Without one no price is known, and a warning is logged.
"""

import logging
import re
import threading
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import NamedTuple

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern
from heald.providers.prices.name_clauses import Clause, matches


class TokenCounts(NamedTuple):
    """The usage of one request. The buckets are disjoint."""

    input: int = 0
    """Text that was neither read from a cache nor written to it."""
    cache_read: int = 0
    cache_write: int = 0
    """Stored for some minutes."""
    image_input: int = 0
    output: int = 0
    image_output: int = 0
    cache_write_1h: int = 0
    """Stored for an hour."""

    @property
    def total_input(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.cache_write_1h + self.image_input


class Tiered(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A rate that depends on the size of a request: the highest tier that it reaches counts for all its tokens."""

    base: float
    tiers: tuple[tuple[int, float], ...]
    """Pairs of a size of input and the rate above it, the lowest first."""

    def at(self, total_input: int) -> float:
        for start, dollars in reversed(self.tiers):
            if total_input > start:
                return dollars
        return self.base


Rate = float | Tiered
"""Dollars per million tokens."""


class Rates(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The prices of a model. A kind of token without a rate costs as much as plain input or output, and input that is
    cached for an hour as much as other cached input."""

    input: Rate | None = None
    cache_read: Rate | None = None
    cache_write: Rate | None = None
    image_input: Rate | None = None
    output: Rate | None = None
    image_output: Rate | None = None
    requests: Rate | None = None
    """Dollars per thousand requests."""
    cache_write_1h: Rate | None = None
    web_searches: Rate | None = None
    """Dollars per thousand searches."""
    file_searches: Rate | None = None
    """Dollars per thousand searches."""

    def dollars(self, tokens: TokenCounts) -> float:
        """Compute the price of one request."""
        size = tokens.total_input
        input_rate, output_rate = _at(self.input, size, 0.0), _at(self.output, size, 0.0)
        write_rate = _at(self.cache_write, size, input_rate)
        millionths = (
            input_rate * tokens.input
            + _at(self.cache_read, size, input_rate) * tokens.cache_read
            + write_rate * tokens.cache_write
            + _at(self.cache_write_1h, size, write_rate) * tokens.cache_write_1h
            + _at(self.image_input, size, input_rate) * tokens.image_input
            + output_rate * tokens.output
            + _at(self.image_output, size, output_rate) * tokens.image_output
        )
        return millionths / 1_000_000 + _at(self.requests, size, 0.0) / 1000


def base_of(rate: Rate | None) -> float | None:
    """Return the rate of a small request."""
    return rate.base if isinstance(rate, Tiered) else rate


def _at(rate: Rate | None, total_input: int, otherwise: float) -> float:
    if rate is None:
        return otherwise
    return rate.at(total_input) if isinstance(rate, Tiered) else rate


_ANY_PROVIDER = "litellm"
"""A gateway: the name of its model begins with the provider's, or implies it."""
_COMPACT_DATE = lazy_pattern(r"-(20[0-9]{2})([0-9]{2})([0-9]{2})(?=[-:]|$)")


class Term(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Rates and the time for which they apply."""

    rates: Rates
    since: date | None = None
    daily: tuple[time, time] | None = None
    """Only between these times of the day, which may include midnight."""

    def is_on(self, moment: datetime) -> bool:
        """Whether the term applies at a moment in UTC."""
        if self.since is not None:
            return moment.date() >= self.since
        if self.daily is None:
            return True
        begin, end = self.daily
        now = moment.time()
        return begin <= now < end if begin <= end else now >= begin or now < end


class PricedModel(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    id: str
    match: Clause
    """Matches the names of the model; its id is not always one of them."""
    terms: tuple[Term, ...]
    context_window: int | None = None

    def rates_at(self, moment: datetime) -> Rates:
        """Return the rates of the last term that applies; of the first if none does."""
        if len(self.terms) == 1:
            return self.terms[0].rates
        moment = moment.astimezone(UTC)
        for term in reversed(self.terms):
            if term.is_on(moment):
                return term.rates
        return self.terms[0].rates if self.terms else Rates()


class PricedProvider(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    id: str
    models: tuple[PricedModel, ...]
    match: Clause | None = None
    """Matches further names of the provider."""
    model_match: Clause | None = None
    """Matches names of models that imply this provider."""
    fallbacks: tuple[str, ...] = ()
    """The ids of providers whose models it also has, at their prices."""

    def own_model(self, name: str) -> PricedModel | None:
        return next((model for model in self.models if matches(model.match, name)), None)


class PriceList(msgspec.Struct, frozen=True):
    version: str
    """The version of the package from which the list was made."""
    date: str | None = None
    """The day of that version."""
    providers: tuple[PricedProvider, ...] = ()

    @property
    def origin(self) -> str:
        day = f"as of {self.date}" if self.date is not None else "of an unknown day"
        return f"{day} (genai-prices {self.version})"

    def find(self, provider: str, model: str) -> PricedModel | None:
        """Find a provider's model. Both names may be spelled in any way."""
        name = model.lower()
        if provider.lower() == _ANY_PROVIDER:
            listed, name = self._behind(name)
        else:
            listed = self.provider(provider)
        if listed is None:
            return None
        priced = self._model(listed, name)
        if priced is not None:
            return priced
        spelt_out = _with_dashed_date(name)
        return self._model(listed, spelt_out) if spelt_out != name else None

    def provider(self, name: str) -> PricedProvider | None:
        """Find a provider by its id or another name."""
        name = name.lower().strip()
        by_id = self._by_id(name)
        if by_id is not None:
            return by_id
        return next((entry for entry in self.providers if entry.match is not None and matches(entry.match, name)), None)

    def _by_id(self, name: str) -> PricedProvider | None:
        return next((provider for provider in self.providers if provider.id == name), None)

    def _behind(self, name: str) -> tuple[PricedProvider | None, str]:
        """Return the provider behind a gateway, and the model's name there."""
        first, slash, rest = name.partition("/")
        named = self.provider(first) if slash and first else None
        if named is not None:
            return named, rest
        passing = self.provider(_ANY_PROVIDER)
        if passing is not None:
            return passing, name
        implied = (
            provider
            for provider in self.providers
            if provider.model_match is not None and matches(provider.model_match, name)
        )
        return (next(implied, None) if name else None), name

    def _model(self, provider: PricedProvider, name: str) -> PricedModel | None:
        """Find a model of the provider or of its fallbacks; the fallbacks of these do not count."""
        model = provider.own_model(name)
        if model is not None:
            return model
        fallbacks = (self._by_id(fallback) for fallback in provider.fallbacks)
        models = (fallback.own_model(name) for fallback in fallbacks if fallback is not None)
        return next((model for model in models if model is not None), None)


def _with_dashed_date(name: str) -> str:
    """Insert dashes into the date of a name: some write `-20251211` for `-2025-12-11`."""
    return _COMPACT_DATE.sub(_with_dashes, name)


def _with_dashes(date_match: re.Match[str]) -> str:
    year, month, day = date_match.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return date_match[0]
    return f"-{year}-{month}-{day}"


PLACE = Path(__file__).parent / "made" / "list.json"

_log = logging.getLogger("heald.providers.prices")
_reading = threading.Lock()
_kept: list[PriceList] = []


def price_list() -> PriceList:
    """Read the list once. Returns an empty one if it is missing or damaged."""
    if _kept:
        return _kept[0]
    with _reading:
        if not _kept:
            _kept.append(_read_or_empty())
    return _kept[0]


def is_read() -> bool:
    return bool(_kept)


def read(place: Path = PLACE) -> PriceList:
    """Read the list; ConfigurationError if it is missing or damaged."""
    fix = "from a checkout run `make made`, else install heald anew."
    try:
        return msgspec.json.decode(place.read_bytes(), type=PriceList)
    except FileNotFoundError:
        raise ConfigurationError(f"The list of prices is not here, so no price is known; {fix}") from None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ConfigurationError(f"The list of prices cannot be read, so no price is known; {fix}") from None


def _read_or_empty() -> PriceList:
    try:
        return read()
    except ConfigurationError as error:
        _log.warning("%s", error)
        return PriceList(version="")
