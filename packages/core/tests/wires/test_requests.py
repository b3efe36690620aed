"""Turns and the request bodies that each wire makes of them: a case is a turn in neutral form and the whole body.

The cases are in `requests/<wire>.json`. A field that a case leaves out has its default.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from heald.core.json import JsonObject, encode
from heald.wires.registry import WIRES
from heald.wires.request import TurnRequest

FOLDER = Path(__file__).parent / "requests"
CASES: list[tuple[str, JsonObject]] = [
    (file.stem, case) for file in sorted(FOLDER.glob("*.json")) for case in json.loads(file.read_text("utf-8"))
]


def case_id(value: Any) -> str:
    return value if isinstance(value, str) else value["name"]


@pytest.mark.parametrize(("wire", "case"), CASES, ids=case_id)
def test_a_turn_becomes_this_request(wire: str, case: JsonObject) -> None:
    turn = msgspec.convert(case["turn"], TurnRequest)
    assert json.loads(encode(WIRES[wire].build_request(turn))) == case["body"]


def test_no_name_is_used_twice() -> None:
    names = [(wire, case["name"]) for wire, case in CASES]
    assert len(names) == len(set(names))
