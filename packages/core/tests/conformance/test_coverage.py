"""Every case of the list has a file, a test, or a reason why it belongs elsewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

from heald.wires.registry import WIRES

from .case import all_cases

GROUPS = {"F": 18, "T": 26, "V": 17, "R": 22, "G": 12, "U": 7}

IN_TESTS = {
    "F04": "test_transport.py",
    "F08": "test_transport.py",
    "F09": "test_transport.py",
    "F12": "test_transport.py",
    "F14": "test_transport.py",
    "G12": "test_cases.py",
}
"""Cases that are not, or not only, data: the test file names the case."""

NOT_HERE = {
    "F11": "AWS event-stream framing belongs to Bedrock, which no wire speaks.",
    "V02": "Required parameters are checked against the tool's schema, where tools run.",
    "V10": "Coercion of nested values needs the tool's schema, where tools run.",
    "V13": "Whether a tool exists is known where tools run.",
    "V14": "Whether a tool is still there at dispatch is known where tools run.",
    "V16": "The cost of previews is measured in benchmarks/ and tests/wires.",
    "V17": "The text of validation errors is made where tools run.",
    "R10": "Responses are never stored by Heald; what a session sends is always its own history.",
    "G11": "Windows are trimmed where sessions are kept.",
    "U07": "Which session pays for a turn is known where sessions are kept.",
}


def _all() -> Iterator[str]:
    for group, last in GROUPS.items():
        yield from (f"{group}{number:02}" for number in range(1, last + 1))


def test_every_case_is_somewhere() -> None:
    covered = {case.id for case in all_cases().values()} | set(IN_TESTS) | set(NOT_HERE)
    assert sorted(set(_all()) - covered) == []


def test_no_reason_is_out_of_date() -> None:
    assert sorted(set(NOT_HERE) & {case.id for case in all_cases().values()}) == []
    assert sorted({*NOT_HERE, *IN_TESTS} - set(_all())) == []


def test_every_file_is_of_a_known_case_and_wire() -> None:
    for name, case in all_cases().items():
        assert case.id in set(_all()), name
        assert case.wire in WIRES, name
        assert (case.stream is None) != (case.expect_request is None), f"{name}: a stream or a request"
        assert case.title, name
        assert case.why.endswith("."), name


def test_tests_name_the_cases_they_stand_for() -> None:
    for case_id, file in IN_TESTS.items():
        assert re.search(rf"\b{case_id}\b", (Path(__file__).parent / file).read_text("utf-8")), case_id
