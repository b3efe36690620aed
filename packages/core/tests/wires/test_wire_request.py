import re
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heald.core.messages import ToolDefinition
from heald.core.turn import Reason, Settings
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest, data_url, legal_name, resolve_budget, resolve_effort, without_none


@given(st.text(max_size=100))
def test_names_and_ids_become_legal(text: str) -> None:
    assert re.fullmatch("[a-zA-Z0-9_-]{1,64}", legal_name(text))
    assert legal_name(legal_name(text)) == legal_name(text)


@pytest.mark.parametrize(
    ("name", "legal"),
    [("read_file", "read_file"), ("a.b/c d", "a_b_c_d"), ("", "_"), ("é", "_"), ("x" * 70, "x" * 64), ("a\n", "a_")],
)
def test_a_legal_name_stays_and_an_invented_one_is_repaired(name: str, legal: str) -> None:
    assert legal_name(name) == legal


@pytest.mark.parametrize(
    ("reason", "effort", "budget"),
    [
        (Reason(), None, None),
        (Reason(effort="none"), "none", 0),
        (Reason(effort="low"), "low", 2048),
        (Reason(effort="xhigh"), "xhigh", 32768),
        (Reason(budget=0), "none", 0),
        (Reason(budget=900), "minimal", 900),
        (Reason(budget=9000), "medium", 9000),
        (Reason(budget=10**6), "xhigh", 10**6),
        (Reason(effort="high", budget=10), "high", 10),
    ],
)
def test_an_effort_and_a_budget_stand_for_each_other(reason: Reason, effort: str | None, budget: int | None) -> None:
    assert resolve_effort(reason) == effort
    assert resolve_budget(reason) == budget


def test_small_words() -> None:
    assert data_url("image/png", "AAAA") == "data:image/png;base64,AAAA"
    assert without_none(a=None, b=0, c="", d=False) == {"b": 0, "c": "", "d": False}


@pytest.mark.parametrize(
    ("wire", "path"),
    [
        ("chat", "/chat/completions"),
        ("responses", "/responses"),
        ("messages", "/messages"),
        ("gemini", "/models/some-model:streamGenerateContent?alt=sse"),
        ("ollama", "/api/chat"),
        ("converse", "/model/some-model/converse-stream"),
        ("bedrock-messages", "/model/some-model/invoke-with-response-stream"),
        ("vertex-messages", "/models/some-model:streamRawPredict"),
    ],
)
def test_every_wire_knows_its_path_and_its_decoder(wire: str, path: str) -> None:
    assert WIRES[wire].request_path("some-model") == path
    assert WIRES[wire].name == wire
    assert WIRES[wire].decoder.wire == wire.rpartition("-")[2]
    assert len(WIRES) == 8


def test_every_wire_has_the_name_of_its_entry_point() -> None:
    assert "chat" in WIRES
    assert "telegraph" not in WIRES
    assert all(wire.name == name for name, wire in WIRES.items())


EXTRA = {
    "chat": ({"tools": [{"type": "web"}]}, "tools", 2),
    "responses": ({"tools": [{"type": "web_search"}], "text": {"verbosity": "low"}}, "text", {"verbosity": "low"}),
    "messages": ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools", 2),
    "gemini": ({"generationConfig": {"seed": 7}}, "generationConfig", {"temperature": 0.5, "seed": 7}),
    "ollama": ({"options": {"seed": 7}}, "options", {"temperature": 0.5, "seed": 7}),
    "converse": ({"inferenceConfig": {"topP": 0.1}}, "inferenceConfig", {"temperature": 0.5, "topP": 0.1}),
}


@pytest.mark.parametrize("wire", EXTRA)
def test_extra_parameters_are_merged_and_replace_nothing_beside_them(wire: str) -> None:
    extra, field, expected = EXTRA[wire]
    tool = ToolDefinition(name="look", description="Look.", input_schema={"type": "object"})
    request = TurnRequest(
        model="m", messages=[], tools=[tool], settings=Settings(temperature=0.5, extra=cast("dict[str, Any]", extra))
    )
    body = WIRES[wire].build_request(request)
    assert (len(body[field]) if field == "tools" else body[field]) == expected
    assert "look" in str(body)
