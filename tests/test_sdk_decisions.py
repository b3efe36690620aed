"""The decisions about words of the providers' SDKs fit the wires, and every scenario becomes a request.

`make conform-sdks` compares with the SDKs themselves, which are not installed here.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def conform() -> Any:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        return import_module("conform_sdks")
    finally:
        sys.path.remove(str(ROOT / "scripts"))


@pytest.fixture(scope="module")
def bodies(conform: Any) -> Any:
    return conform.build_bodies()


def test_no_decision_is_about_a_word_that_a_wire_knows(conform: Any, bodies: Any) -> None:
    decisions, _ = conform.read_decisions()
    assert list(conform.find_stale(decisions, bodies)) == []


def test_a_decision_that_a_wire_outgrew_is_found(conform: Any, bodies: Any) -> None:
    outgrown = conform.Decision("anthropic", ("deltas",), "ignored", "It is old.", ("text_delta",))
    assert list(conform.find_stale([outgrown], bodies)) == ["anthropic, deltas: 'text_delta' is decided and known"]


def test_a_word_without_a_decision_is_found(conform: Any, bodies: Any) -> None:
    vocabulary = {"anthropic": {"package": "anthropic 0", "groups": {"deltas": ["text_delta", "brand_new_delta"]}}}
    [comparison] = conform.compare(vocabulary, conform.read_decisions()[0], bodies)
    assert (comparison.read, comparison.undecided) == (["text_delta"], ["brand_new_delta"])


def test_every_scenario_becomes_a_request_or_a_refusal_on_every_wire(conform: Any, bodies: Any) -> None:
    assert len(conform.SCENARIOS) >= 25
    built = [case for case in bodies.built if case["provider"] in conform.PROVIDERS]
    assert len(built) + len(bodies.refused) == len(conform.SCENARIOS) * len(conform.PROVIDERS)
    for provider, scenario, sentence in bodies.refused:
        assert sentence.endswith("."), (provider, scenario)


def test_the_page_has_every_decision(conform: Any) -> None:
    page = conform.PAGE.read_text("utf-8")
    for decision in conform.read_decisions()[0]:
        for word in decision.words:
            assert f"`{word}`" in page, f"{word}: run make conform-sdks"
