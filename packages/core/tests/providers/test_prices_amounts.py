"""A usage costs what the library says it costs: every model, at any time, of any size."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from functools import cache
from typing import Any

import genai_prices
import genai_prices.types as theirs
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prices_bench import Oracle, providers, script

import heald
from example_counts import scaled
from heald.core.turn import Usage
from heald.providers.catalogue import describe_model, known_models
from heald.providers.list_price import PictureTokens, picture_price, price
from heald.providers.prices.price_list import PricedModel, Rates, TokenCounts

oracle = cache(Oracle)
term_of: Any = script()["_term"]
model_of: Any = script()["_model"]

ONE_OF_EACH = TokenCounts(7, 11, 13, 17, 19, 23, 29)
SMALL = TokenCounts(input=1000, output=500)
LARGE = TokenCounts(900_001, 90_000, 80_000, 70_000, 60_000, 50_000, 40_000)
counts = st.one_of(st.integers(0, 3000), st.integers(0, 2_000_000))
tokens = st.builds(TokenCounts, counts, counts, counts, counts, counts, counts, counts)
zones = st.one_of(st.just(UTC), st.integers(-14 * 60, 14 * 60).map(lambda offset: timezone(timedelta(minutes=offset))))
moments = st.datetimes(datetime(2023, 1, 1), datetime(2028, 1, 1), timezones=zones)


def their_price(prices: theirs.ModelPrice, used: TokenCounts) -> float:
    counted = genai_prices.Usage(
        input_tokens=used.total_input,
        cache_read_tokens=used.cache_read,
        cache_write_tokens=used.cache_write + used.cache_write_1h,
        cache_write_1h_tokens=used.cache_write_1h,
        input_image_tokens=used.image_input,
        output_tokens=used.output + used.image_output,
        output_image_tokens=used.image_output,
        cache_image_read_tokens=0,
        cache_image_write_tokens=0,
    )
    return float(prices.calc_price(counted)["total_price"])


def exactly(dollars: float) -> Any:
    return pytest.approx(dollars, rel=1e-12, abs=0)


def edges(model: theirs.ModelInfo) -> Iterator[datetime]:
    """Moments around which its price changes, and now."""
    yield datetime.now(UTC)
    for term in model.prices if isinstance(model.prices, list) else ():
        bound = term.constraint
        if isinstance(bound, theirs.StartDateConstraint):
            begin = datetime.combine(bound.start_date, time(), UTC)
            yield from (begin, begin - timedelta(microseconds=1))
        elif bound is not None:
            for clock in (bound.start_time, bound.end_time):
                moment = datetime.combine(date(2026, 11, 15), clock if clock.tzinfo else clock.replace(tzinfo=UTC))
                yield from (moment, moment - timedelta(microseconds=1))


@pytest.mark.parametrize("number", range(len(providers)), ids=[provider.id for provider in providers])
def test_every_model_of_every_provider(number: int) -> None:
    both = oracle()
    for ours, model in zip(both.list.providers[number].models, providers[number].models, strict=True):
        assert (ours.id, ours.context_window) == (model.id, model.context_window)
        for moment in edges(model):
            for used in (SMALL, LARGE, ONE_OF_EACH):
                expected = their_price(model.get_prices(moment), used)
                assert ours.rates_at(moment).dollars(used) == exactly(expected), (model.id, moment, used)


@settings(max_examples=scaled(500))
@given(st.integers(0, 1 << 20), moments, tokens)
def test_any_usage_at_any_time(number: int, moment: datetime, used: TokenCounts) -> None:
    pairs = oracle().pairs
    ours, model = pairs[number % len(pairs)]
    assert ours.rates_at(moment).dollars(used) == exactly(their_price(model.get_prices(moment), used))


clocks = st.times(timezones=st.one_of(st.none(), zones))
amounts = st.decimals(0, 1000, places=4)
tiered = st.builds(
    theirs.TieredPrices, amounts, st.lists(st.builds(theirs.Tier, st.integers(0, 2_000_000), amounts), max_size=3)
)
listed_rates = st.fixed_dictionaries(
    {"input_mtok": st.one_of(amounts, tiered), "output_mtok": st.one_of(amounts, tiered)},
    optional={
        "cache_read_mtok": st.one_of(amounts, tiered),
        "cache_write_mtok": amounts,
        "cache_write_1h_mtok": amounts,
        "requests_kcount": amounts,
        "web_searches_kcount": amounts,
    },
).filter(lambda rates: "cache_write_mtok" in rates or "cache_write_1h_mtok" not in rates)
listed_prices = listed_rates.map(lambda rates: theirs.ModelPrice(**rates))
bounds = st.one_of(
    st.none(),
    st.builds(theirs.StartDateConstraint, st.dates(date(2024, 1, 1), date(2027, 1, 1))),
    st.builds(theirs.TimeOfDateConstraint, clocks, clocks),
)
models = st.one_of(
    listed_prices,
    st.lists(
        st.builds(theirs.ConditionalPrice, bounds, prices=listed_prices),
        min_size=1,
        max_size=4,
    ),
).map(lambda prices: theirs.ModelInfo(id="m", match=theirs.ClauseEquals("m"), prices=prices))


@given(models, moments, st.builds(TokenCounts, counts, counts, counts, st.just(0), counts, st.just(0), counts))
def test_any_price_that_a_list_can_have(model: theirs.ModelInfo, moment: datetime, used: TokenCounts) -> None:
    ours = msgspec.convert(model_of(model), PricedModel)
    assert ours.rates_at(moment).dollars(used) == exactly(their_price(model.get_prices(moment), used))


@pytest.mark.parametrize("price", ["NaN", "Infinity", "-1"])
def test_what_is_no_price_is_not_listed(price: str) -> None:
    with pytest.raises(SystemExit, match="which is not a price"):
        term_of(theirs.ConditionalPrice(prices=theirs.ModelPrice(input_mtok=Decimal(price))))


# --- the arithmetic, by hand ----------------------------------------------------------------------------------------


def test_a_tier_counts_for_all_of_a_request_that_is_larger() -> None:
    rates = msgspec.convert({"input": [1, [[10, 2], [20, 3]]], "output": 5}, Rates)
    assert [rates.dollars(TokenCounts(input=tokens)) * 1e6 for tokens in (10, 11, 20, 21)] == pytest.approx(
        [10, 22, 40, 63]
    )
    cached = TokenCounts(input=1, cache_read=9, cache_write=1, output=1)
    assert rates.dollars(cached) * 1e6 == pytest.approx(11 * 2 + 5)
    assert rates.dollars(TokenCounts(input=1, image_input=10)) * 1e6 == pytest.approx(11 * 2)


def test_what_has_no_rate_of_its_own_is_input_or_output() -> None:
    rates = Rates(input=1.0, output=10.0)
    assert rates.dollars(ONE_OF_EACH) * 1e6 == pytest.approx(7 + 11 + 13 + 17 + 29 + 10 * (19 + 23))
    all_rates = Rates(input=1.0, cache_read=2.0, cache_write=3.0, image_input=4.0, output=10.0, image_output=20.0)
    assert all_rates.dollars(ONE_OF_EACH) * 1e6 == pytest.approx(7 + 22 + 39 + 68 + 190 + 460 + 3 * 29)


def test_a_request_may_cost_something_by_itself() -> None:
    assert Rates(requests=5.0).dollars(TokenCounts(input=10)) == pytest.approx(0.005)


def at(*terms: dict[str, Any]) -> PricedModel:
    return msgspec.convert({"id": "m", "match": ["equals", "m"], "terms": terms}, PricedModel)


@pytest.mark.parametrize(
    ("moment", "dollars"),
    [
        ("2026-02-28T23:59:59.999999+00:00", 1),
        ("2026-03-01T00:00:00+00:00", 2),
        ("2026-03-01T01:00:00+02:00", 1),
        ("2026-02-28T22:00:00-02:00", 2),
        ("2026-04-01T00:00:00+00:00", 3),
    ],
)
def test_a_price_that_begins_on_a_day(moment: str, dollars: float) -> None:
    model = at(
        {"rates": {"input": 1}},
        {"rates": {"input": 2}, "since": "2026-03-01"},
        {"rates": {"input": 3}, "since": "2026-04-01"},
    )
    assert model.rates_at(datetime.fromisoformat(moment)).input == dollars


@pytest.mark.parametrize(
    ("clock", "by_day", "by_night"),
    [("00:30", 1, 2), ("01:00", 2, 2), ("05:00", 1, 1), ("12:00", 1, 1), ("22:59", 1, 1), ("23:00", 1, 2)],
)
def test_a_price_of_some_hours(clock: str, by_day: float, by_night: float) -> None:
    moment = datetime.fromisoformat(f"2026-03-01T{clock}:00+00:00")
    usual = {"rates": {"input": 1}}
    assert at(usual, {"rates": {"input": 2}, "daily": ["01:00:00", "05:00:00"]}).rates_at(moment).input == by_day
    assert at(usual, {"rates": {"input": 2}, "daily": ["23:00:00", "05:00:00"]}).rates_at(moment).input == by_night


def test_a_price_that_has_not_begun_is_better_than_none() -> None:
    begun = datetime(2026, 3, 1, tzinfo=UTC)
    later = [{"rates": {"input": month}, "since": f"2027-0{month}-01"} for month in (1, 2)]
    assert at(*later).rates_at(begun).input == 1
    assert at().rates_at(begun) == Rates()


# --- what the catalogue makes of it ---------------------------------------------------------------------------------

PRICED = {("openai", "gpt-4o"), ("anthropic", "claude-sonnet-4-5"), ("google", "gemini-2.5-pro"), ("x-ai", "grok-4")}


def model_named(provider: str, name: str) -> heald.Model:
    return heald.Model(name, base_url="http://127.0.0.1:1", provider=provider)


some = st.one_of(st.none(), counts)


@pytest.mark.parametrize(("provider", "name"), sorted(PRICED))
@given(used=st.builds(Usage, some, some, some, some, some, st.none(), st.just({}), st.none(), st.just([])))
@example(used=Usage())
@example(used=Usage(reasoning=3))
def test_the_price_of_a_turn(provider: str, name: str, used: Usage) -> None:
    cost = price(model_named(provider, name), used)
    if used.total is None:
        assert (cost.usd, cost.source) == (None, None)
        return
    model_info = oracle().snapshot.find_provider_model(name, None, provider, None)[1]
    counted = TokenCounts(used.input or 0, used.cache_read or 0, used.cache_write or 0, output=used.total_output or 0)
    assert cost.usd == exactly(their_price(model_info.get_prices(datetime.now(UTC)), counted))


@pytest.mark.parametrize("provider", providers, ids=lambda provider: provider.id)
def test_what_is_informed_of_a_model(provider: theirs.Provider) -> None:
    for model in provider.models:
        name = model.id
        told = describe_model(model_named(provider.id, name))
        try:
            model_info = oracle().snapshot.find_provider_model(name, None, provider.id, None)[1]
        except LookupError:
            assert (told.context_window, told.input_usd_per_million, told.output_usd_per_million) == (None, None, None)
            continue
        prices = model_info.get_prices(datetime.now(UTC))
        assert told.context_window == model_info.context_window
        assert told.input_usd_per_million == base(getattr(prices, "input_mtok", None))
        assert told.output_usd_per_million == base(getattr(prices, "output_mtok", None))


def base(value: Decimal | theirs.TieredPrices | None) -> float | None:
    first = value.base if isinstance(value, theirs.TieredPrices) else value
    return None if first is None else float(first)


def test_the_models_of_every_provider() -> None:
    for provider in providers:
        talking = [model.id for model in provider.models if describe_model(model_named("x", model.id)).tools]
        assert set(known_models(provider.id)) <= {model.id for model in provider.models}
        assert set(talking) >= set(known_models(provider.id))
    assert known_models("gemini", "google")
    assert all(name.startswith(("gemini", "gemma")) for name in known_models("gemini", "google"))


def draws(prices: theirs.ModelPrice) -> bool:
    return prices.output_image_mtok is not None or prices.input_image_mtok is not None


PAINTERS = [
    (provider.id, model.id)
    for provider in providers
    for model in provider.models
    if draws(model.get_prices(datetime.now(UTC)))
]


@pytest.mark.parametrize(("provider", "name"), PAINTERS)
@settings(max_examples=scaled(25))
@given(used=st.builds(PictureTokens, counts, counts, counts, counts))
def test_the_price_of_a_picture(provider: str, name: str, used: PictureTokens) -> None:
    model_info = oracle().snapshot.find_provider_model(name, None, provider, None)[1]
    expected = their_price(
        model_info.get_prices(datetime.now(UTC)),
        TokenCounts(used.text_in, image_input=used.image_in, output=used.text_out, image_output=used.image_out),
    )
    assert picture_price(provider, name, used) == exactly(expected)


def test_pictures_that_have_no_price() -> None:
    assert len(PAINTERS) > 5
    assert picture_price("openai", "no-such-painter", PictureTokens(1, 1, 1, 1)) is None
    assert picture_price("nobody", "gpt-image-1", PictureTokens(1, 1, 1, 1)) is None
