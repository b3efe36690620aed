"""The price list: providers, their models, and what those cost when. Finds a model by what somebody calls it."""

import re
from datetime import UTC, date, datetime, time

import msgspec

from weft.providers.prices.clauses import Clause, matches
from weft.providers.prices.rates import Rates

_ANY_PROVIDER = "litellm"
"""One that passes on to others: the name of its model begins with the provider's, or tells it."""
_COMPACT_DATE = re.compile(r"-(20[0-9]{2})([0-9]{2})([0-9]{2})(?=[-:]|$)")


class Term(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Rates, and when they count."""

    rates: Rates
    since: date | None = None
    daily: tuple[time, time] | None = None
    """Between these times of the day only; they may lie around midnight."""

    def is_on(self, moment: datetime) -> bool:
        """The moment is in UTC, as the term is."""
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
    """What it is called: its id is not always among it."""
    terms: tuple[Term, ...]
    context_window: int | None = None

    def rates_at(self, moment: datetime) -> Rates:
        """The rates of the last term that is on; of the first if none is."""
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
    """What it is called beside its id."""
    model_match: Clause | None = None
    """Names of models that tell that they are this provider's."""
    fallbacks: tuple[str, ...] = ()
    """The ids of others whose models it has as well, at their prices."""

    def own_model(self, name: str) -> PricedModel | None:
        return next((model for model in self.models if matches(model.match, name)), None)


class PriceList(msgspec.Struct, frozen=True):
    version: str
    """Of the package that the list was made from."""
    date: str | None = None
    """The day of that version."""
    providers: tuple[PricedProvider, ...] = ()

    @property
    def origin(self) -> str:
        day = f"as of {self.date}" if self.date is not None else "of an unknown day"
        return f"{day} (genai-prices {self.version})"

    def find(self, provider: str, model: str) -> PricedModel | None:
        """A provider's model. Both names as somebody wrote them."""
        name = model.lower()
        if provider.lower() == _ANY_PROVIDER:
            known, name = self._behind(name)
        else:
            known = self.provider(provider)
        if known is None:
            return None
        found = self._model(known, name)
        if found is not None:
            return found
        spelt_out = _spelt_out(name)
        return self._model(known, spelt_out) if spelt_out != name else None

    def provider(self, name: str) -> PricedProvider | None:
        """By its id, else by what it is also called."""
        name = name.lower().strip()
        by_id = self._by_id(name)
        if by_id is not None:
            return by_id
        return next((each for each in self.providers if each.match is not None and matches(each.match, name)), None)

    def _by_id(self, name: str) -> PricedProvider | None:
        return next((each for each in self.providers if each.id == name), None)

    def _behind(self, name: str) -> tuple[PricedProvider | None, str]:
        """Who really has a model, and what it is called there."""
        first, slash, rest = name.partition("/")
        named = self.provider(first) if slash and first else None
        if named is not None:
            return named, rest
        passing = self.provider(_ANY_PROVIDER)
        if passing is not None:
            return passing, name
        told = (each for each in self.providers if each.model_match is not None and matches(each.model_match, name))
        return (next(told, None) if name else None), name

    def _model(self, provider: PricedProvider, name: str) -> PricedModel | None:
        """Its own, else one of those it has from others. Theirs are their own only: one step, no further."""
        found = provider.own_model(name)
        if found is not None:
            return found
        others = (self._by_id(each) for each in provider.fallbacks)
        return next((model for each in others if each and (model := each.own_model(name)) is not None), None)


def _spelt_out(name: str) -> str:
    """Dates with their dashes, as the list has them: some write `-20251211` for `-2025-12-11`."""
    return _COMPACT_DATE.sub(_with_dashes, name)


def _with_dashes(found: re.Match[str]) -> str:
    year, month, day = found.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return found[0]
    return f"-{year}-{month}-{day}"
