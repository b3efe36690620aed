"""A model is found under every name under which the library finds it, and under no other."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import genai_prices.types as theirs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prices_bench import Oracle, providers, script

from example_counts import scaled
from heald.providers.prices.name_clauses import Clause, matches
from heald.providers.prices.price_list import PriceList

oracle = cache(Oracle)
clause_of: Any = script()["_clause"]


def texts(clause: object) -> Iterator[str]:
    """The words of a condition."""
    if clause is None:
        return
    held: list[Any] = list(vars(clause).values())
    for value in held:
        if isinstance(value, str):
            yield value
        else:
            for inner in value:
                yield from texts(inner)


NAMES = sorted({name for p in providers for m in p.models for name in (m.id, *texts(m.match))})
PROVIDERS = sorted({name for p in providers for name in (p.id, *texts(p.provider_match))} | {"litellm", "nobody", ""})


@pytest.mark.parametrize("provider", providers, ids=lambda provider: provider.id)
def test_every_model_of_every_provider(provider: theirs.Provider) -> None:
    both = oracle()
    for number, model in enumerate(provider.models):
        odd = {model.id.upper(), f"{model.id}-20260131", f"x/{model.id}"} if number % 10 == 0 else set[str]()
        for name in {model.id, *texts(model.match), *odd}:
            assert both.list.find(provider.id, name) is both.find(provider.id, name), name


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_name_of_a_provider(name: str) -> None:
    both = oracle()
    for spelling in (name, name.upper(), f" {name}\t", f"{name}x", f"x-{name}"):
        for model in NAMES[:: max(1, len(NAMES) // 20)]:
            assert both.list.find(spelling, model) is both.find(spelling, model), (spelling, model)


ends = st.sampled_from(
    ["", "-20251211", "-20250231", "-2025-12-11", "-20261301-x", "-20251211:free", "-latest", "-tts"]
)
letters = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789-_./:@ []=é\n", max_size=12)
fronts = st.one_of(st.just(""), letters, st.sampled_from(PROVIDERS).map(lambda provider: f"{provider}/"))
middles = st.one_of(
    st.sampled_from(NAMES), st.sampled_from(NAMES).map(lambda name: name[1:-1]), letters, st.text(max_size=8)
)
written = st.tuples(fronts, middles, st.one_of(ends, letters)).map("".join)
names = st.one_of(written, written.map(str.swapcase))


@settings(max_examples=scaled(1000))
@given(st.one_of(st.sampled_from(PROVIDERS), st.just("litellm"), letters), names)
def test_any_name(provider: str, name: str) -> None:
    both = oracle()
    assert both.list.find(provider, name) is both.find(provider, name)


words = st.text("abAB-1", max_size=3)
conditions: "st.SearchStrategy[Any]" = st.recursive(
    st.one_of(
        st.builds(theirs.ClauseEquals, words),
        st.builds(theirs.ClauseStartsWith, words),
        st.builds(theirs.ClauseEndsWith, words),
        st.builds(theirs.ClauseContains, words),
        st.builds(theirs.ClauseRegex, st.sampled_from(["^a", "b$", "a|b", r"\d", "a+-?", "^(?!b)"])),
    ),
    lambda inner: st.one_of(
        st.builds(theirs.ClauseOr, st.lists(inner, max_size=3)),
        st.builds(theirs.ClauseAnd, st.lists(inner, max_size=3)),
    ),
    max_leaves=6,
)


@given(conditions, words)
def test_any_condition(condition: Any, name: str) -> None:
    ours = msgspec.convert(clause_of(condition), Clause)
    assert matches(ours, name.lower()) == condition.is_match(name.lower())


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        (["equals", "ab"], ["ab"], ["abc", "cab", "a", ""]),
        (["starts_with", "ab"], ["ab", "abc"], ["cab", "a"]),
        (["ends_with", "ab"], ["ab", "cab"], ["abc", "b"]),
        (["contains", "ab"], ["ab", "cabc"], ["a-b", ""]),
        (["regex", "b.$"], ["ab1", "b-"], ["b", "abcd"]),
        (["any", [["equals", "a"], ["equals", "b"]]], ["a", "b"], ["c"]),
        (["all", [["starts_with", "a"], ["ends_with", "b"]]], ["ab", "a-b"], ["a", "b"]),
    ],
    ids=lambda condition: condition[0],
)
def test_a_condition_by_hand(condition: list[Any], yes: list[str], no: list[str]) -> None:
    clause = msgspec.convert(condition, Clause)
    assert [name for name in (*yes, *no) if matches(clause, name)] == yes


def listed(*providers: dict[str, Any]) -> PriceList:
    return msgspec.convert({"version": "0", "providers": providers}, PriceList)


def model(name: str) -> dict[str, Any]:
    return {"id": name, "match": ["equals", name], "terms": []}


def test_a_fallback_is_one_step() -> None:
    prices = listed(
        {"id": "a", "models": [], "fallbacks": ["nobody", "b"]},
        {"id": "b", "models": [model("of-b")], "fallbacks": ["c"]},
        {"id": "c", "models": [model("of-c")]},
    )
    assert prices.find("a", "of-b") is not None
    assert prices.find("b", "of-c") is not None
    assert prices.find("a", "of-c") is None


def test_an_own_model_comes_first_and_the_first_of_two() -> None:
    twice = {"id": "second", "match": ["starts_with", "m"], "terms": []}
    prices = listed(
        {"id": "a", "models": [model("m"), twice], "fallbacks": ["b"]},
        {"id": "b", "models": [model("m"), model("n")]},
    )
    assert prices.find("a", "M") is prices.providers[0].models[0]
    assert prices.find("a", "mm") is prices.providers[0].models[1]
    assert prices.find("a", "n") is prices.providers[1].models[1]


def test_an_id_comes_before_another_name() -> None:
    prices = listed({"id": "a", "match": ["contains", "b"], "models": []}, {"id": "b", "models": [model("m")]})
    assert prices.find("b", "m") is not None
    assert prices.find("bb", "m") is None


def test_names_are_written_in_any_form() -> None:
    prices = listed({"id": "a", "models": [model("m-2025-12-11"), model("m-2025-02-31"), model("m-2025-12-11:free")]})
    first, _, free = prices.providers[0].models
    assert prices.find(" A\t", "M-2025-12-11") is first
    assert prices.find("a", "m-20251211") is first
    assert prices.find("a", "m-20251211:free") is free
    assert prices.find("a", "m-20250231") is None, "there is no such day"
    assert prices.find("a", "m-202512111") is None


def test_a_provider_that_passes_on() -> None:
    both = oracle()
    for provider in providers:
        for name in [model.id for model in provider.models][:5]:
            assert both.list.find("LiteLLM", f"{provider.id}/{name}") is both.find("litellm", f"{provider.id}/{name}")
    prices = listed(
        {"id": "a", "models": [model("m")]}, {"id": "b", "model_match": ["contains", "n"], "models": [model("n")]}
    )
    assert prices.find("litellm", "a/m") is prices.providers[0].models[0]
    assert prices.find("litellm", "n") is prices.providers[1].models[0]
    assert prices.find("litellm", "m") is None
    assert prices.find("other", "n") is None
