"""Streams and what each wire makes of them: a case holds the events of a stream and its whole outcome.

The cases are in `streams/<wire>.json`. `events` are framed as the API frames them, `{"raw": …}` is the data of an event
that is not a JSON object, and `pieces` are the bytes of a body. `options` are those of the decoder. Random ids of calls
are numbered.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stream_outcome import number_ids, outcome_of
from wire_streams import decode_pieces, frame

from heald.core.json import JsonObject
from heald.wires.request import Quirks

FOLDER = Path(__file__).parent / "streams"
CASES: list[tuple[str, JsonObject]] = [
    (file.stem, case) for file in sorted(FOLDER.glob("*.json")) for case in json.loads(file.read_text("utf-8"))
]


def case_id(value: Any) -> str:
    return value if isinstance(value, str) else value["name"]


def pieces_of(wire: str, case: JsonObject) -> list[bytes]:
    if "pieces" in case:
        return [piece.encode() for piece in case["pieces"]]
    return [frame(wire, event["raw"].encode() if set(event) == {"raw"} else event) for event in case["events"]]


@pytest.mark.parametrize(("wire", "case"), CASES, ids=case_id)
def test_a_stream_has_this_outcome(wire: str, case: JsonObject, monkeypatch: pytest.MonkeyPatch) -> None:
    number_ids(monkeypatch)
    quirks = msgspec.convert(case.get("quirks", {}), Quirks)
    options = case.get("options", {})
    decoded = decode_pieces(wire, pieces_of(wire, case), ordered=case.get("ordered", True), quirks=quirks, **options)
    assert outcome_of(decoded) == case["outcome"]


def test_no_name_is_used_twice() -> None:
    names = [(wire, case["name"]) for wire, case in CASES]
    assert len(names) == len(set(names))
