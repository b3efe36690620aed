"""What every wire makes of any history: each call answered once, ids legal and unique, nothing empty."""

import re
from itertools import pairwise
from typing import Any, cast

from hypothesis import given, settings
from wire_histories import calls_and_results, histories

from example_counts import scaled
from heald.core.json import JsonObject, encode
from heald.core.messages import Message, ToolDefinition, decode_messages
from heald.wires.history import History
from heald.wires.registry import WIRES
from heald.wires.request import Quirks, TurnRequest

TOOL = ToolDefinition(name="read", description="Reads.")


def build_request(wire: str, history: list[Message], quirks: Quirks | None = None) -> JsonObject:
    request = TurnRequest(model="m-1", messages=history, tools=[TOOL], provider="p", quirks=quirks or Quirks())
    return WIRES[wire].build_request(request)


def turns_of(body: JsonObject) -> list[JsonObject]:
    return next(body[field] for field in ("messages", "contents", "input") if field in body)


def runs(kinds_and_names: list[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
    """Calls and the results right behind them, turn by turn."""
    turns: list[tuple[list[str], list[str]]] = []
    before = "result"
    for kind, name in kinds_and_names:
        if kind == "call" and before == "result":
            turns.append(([], []))
        assert turns, "a result without any call before it"
        turns[-1][kind == "result"].append(name)
        before = kind
    return turns


@settings(max_examples=scaled(120))
@given(history=histories)
def test_every_call_is_answered_once_and_directly(history: list[Message]) -> None:
    for wire in WIRES:
        for calls, results in runs(calls_and_results(wire, build_request(wire, history))):
            assert calls == results, wire


@settings(max_examples=scaled(120))
@given(history=histories)
def test_ids_are_legal_and_unique(history: list[Message]) -> None:
    for wire in ("chat", "responses", "messages"):
        ids = [name for kind, name in calls_and_results(wire, build_request(wire, history)) if kind == "call"]
        assert len(ids) == len(set(ids)), wire
        assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", identifier) for identifier in ids), wire


@given(history=histories)
def test_mistral_gets_ids_of_nine_letters_and_digits(history: list[Message]) -> None:
    sent = calls_and_results("chat", build_request("chat", history, Quirks(id_pattern="mistral")))
    ids = [name for kind, name in sent if kind == "call"]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", identifier) for identifier in ids)


@settings(max_examples=scaled(200))
@given(history=histories)
def test_repairing_twice_changes_nothing_more(history: list[Message]) -> None:
    first, second = History("w", "p", "m"), History("w", "p", "m")
    once = first.extend(history)
    assert second.extend(once) == once
    assert second.ids == first.ids


@settings(max_examples=scaled(80))
@given(history=histories)
def test_a_stored_history_makes_the_same_request(history: list[Message]) -> None:
    """G12: serialise, deserialise, same bytes."""
    stored = decode_messages(encode(history))
    for wire in WIRES:
        assert encode(build_request(wire, stored)) == encode(build_request(wire, history)), wire


@settings(max_examples=scaled(60))
@given(history=histories)
def test_building_changes_neither_the_history_nor_the_next_request(history: list[Message]) -> None:
    before = encode(history)
    for wire in WIRES:
        assert build_request(wire, history) == build_request(wire, history), wire
        assert encode(history) == before, wire


@settings(max_examples=scaled(100))
@given(history=histories)
def test_roles_alternate_and_begin_with_the_user_where_the_api_wants_it(history: list[Message]) -> None:
    for wire, field in (("messages", "messages"), ("gemini", "contents")):
        roles = [message["role"] for message in build_request(wire, history)[field]]
        assert roles[:1] in ([], ["user"])
        assert all(role != following for role, following in pairwise(roles))


@settings(max_examples=scaled(100))
@given(history=histories)
def test_no_message_is_empty(history: list[Message]) -> None:
    """G06: APIs refuse an assistant message of nothing, and a block of blank text."""
    for message in (message for wire in WIRES for message in turns_of(build_request(wire, history))):
        content: Any = message.get("content") or message.get("parts") or message.get("images")
        if message.get("role") in ("assistant", "model", "user"):
            assert content or message.get("tool_calls"), message
        for part in cast("list[Any]", content) if isinstance(content, list) else ():
            if isinstance(part, dict) and "text" in part:
                assert str(cast(JsonObject, part)["text"]).strip()
