"""What is known of models. Prices change; only what is stable about them is tested."""

import pytest
from provider_bench import model_at

import heald
from heald.core.turn import Cost, Usage
from heald.providers.catalogue import describe_model, known_models
from heald.providers.list_price import price
from heald.providers.resolve import resolve

PRICED = [
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-flash",
    "xai/grok-3",
    "deepseek/deepseek-chat",
]
TURN = Usage(input=1000, output=500)


def model(name: str, provider: str) -> heald.Model:
    return model_at("http://127.0.0.1:1", name=name, provider=provider)


@pytest.mark.parametrize("name", PRICED)
def test_a_known_model(name: str) -> None:
    model = resolve(name)
    info, cost = describe_model(model), price(model, TURN)
    assert cost.source == "catalogue"
    assert cost.usd is not None
    assert 0 < cost.usd < 1
    assert info.name == model.name
    assert info.tools
    assert info.input_usd_per_million
    assert info.output_usd_per_million
    assert info.output_usd_per_million > info.input_usd_per_million > 0
    assert info.context_window is None or (isinstance(info.context_window, int) and info.context_window > 8000)


def test_a_context_window_is_a_number() -> None:
    assert isinstance(describe_model(resolve("openai/gpt-4o")).context_window, int)


@pytest.mark.parametrize("name", PRICED)
def test_more_costs_more(name: str) -> None:
    model = resolve(name)
    once, twice = price(model, TURN).usd, price(model, TURN + TURN).usd
    assert once is not None
    assert twice == pytest.approx(2 * once)


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"])
def test_the_cache_is_cheaper_and_reasoning_is_output(name: str) -> None:
    model = resolve(name)
    fresh, cached = price(model, Usage(input=10_000)).usd, price(model, Usage(cache_read=10_000)).usd
    assert fresh is not None
    assert cached is not None
    assert 0 < cached < fresh
    assert price(model, Usage(reasoning=100)) == price(model, Usage(output=100))


def test_writing_a_cache_costs_more_with_anthropic() -> None:
    model = resolve("anthropic/claude-sonnet-4-5")
    fresh, stored = price(model, Usage(input=10_000)).usd, price(model, Usage(cache_write=10_000)).usd
    assert fresh is not None
    assert stored is not None
    assert stored > fresh


@pytest.mark.parametrize(("name", "provider"), [("no-such-model-x", "openai"), ("gpt-4o", "nobody"), ("", "openai")])
def test_an_unknown_model_has_no_price(name: str, provider: str) -> None:
    unknown = model(name, provider)
    info = describe_model(unknown)
    assert price(unknown, TURN) == Cost()
    assert (info.context_window, info.input_usd_per_million, info.output_usd_per_million) == (None, None, None)


def test_nothing_counted_has_no_price() -> None:
    model = resolve("openai/gpt-4o")
    assert price(model, Usage()).usd is None
    assert price(model, Usage(input=0, output=0)).usd == 0


def test_a_price_provider_of_another_name() -> None:
    assert price(resolve("openai-chat/gpt-4o"), TURN) == price(resolve("openai/gpt-4o"), TURN)
    assert price(resolve("openrouter/openai/gpt-4o"), TURN).usd is not None


def test_abilities() -> None:
    assert describe_model(resolve("openai/gpt-4o")).vision
    assert describe_model(resolve("anthropic/claude-sonnet-4-5")).reasoning
    assert not describe_model(resolve("openai/gpt-4o")).reasoning
    assert not describe_model(resolve("openai/text-embedding-3-small")).tools


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
def test_the_models_of_a_provider(provider: str) -> None:
    names = known_models(provider)
    assert len(names) > 5
    assert not any("embed" in name for name in names)


def test_an_unknown_provider_has_no_models() -> None:
    assert known_models("nobody") == []
