"""The table of the first token, and the scenarios that `benchmarks.run` and `benchmarks.check` measure."""

import json
from pathlib import Path

from benchmarks.check import SCENARIOS
from benchmarks.figures import Figures, costs_table
from benchmarks.first_token_table import Wait, WaitTable, rows_of
from benchmarks.scenarios import DEFAULT, scenario
from benchmarks.served_figures import BASELINE

HEALD = "heald, native, SQLite"
TABLE = WaitTable(
    "python -m benchmarks.first_token",
    "abc",
    "a machine",
    [Wait(BASELINE, True, 9.0, 1.0, 2.0, 0.25), Wait(HEALD, True, 8.0, 1.75, 3.0, 1.0)],
)


def test_every_row_says_what_it_adds_to_the_proxy() -> None:
    assert f"| {HEALD} | TLS | 8.0 ms | 1.8 ms | 3.0 ms | +0.8 ms | 1.0 ms | +0.8 ms |" in TABLE.as_markdown()


def test_the_figures_are_stored_with_their_command_and_commit(tmp_path: Path) -> None:
    place = tmp_path / "results" / "first_token.json"
    TABLE.store(place)
    stored = json.loads(place.read_text("utf-8"))
    assert (stored["command"], stored["commit"], stored["machine"]) == (TABLE.command, "abc", "a machine")
    assert [wait["row"] for wait in stored["waits"]] == [BASELINE, HEALD]


def test_the_dialects_are_measured_beside_the_proxy() -> None:
    assert rows_of([]) == [
        BASELINE,
        HEALD,
        "heald, native socket, SQLite",
        "heald, ai-sdk, SQLite",
        "heald, ag-ui, SQLite",
    ]
    assert rows_of(["proxy"]) == [BASELINE]


def test_parallel_calls_and_a_short_answer_are_measured() -> None:
    assert {"calls-8", "text-1"} <= set(DEFAULT) & set(SCENARIOS)


def test_eight_calls_come_in_one_message() -> None:
    load = scenario("bench-calls-8")
    assert [call.arguments["a"] for call in load.calls(0)] == list(range(8))
    assert (load.calls(8), load.turns, load.expected.calls) == ((), 2, 8)
    assert "".join(load.text) == load.expected.text


def test_a_scenario_without_figures_has_no_column() -> None:
    ours, milliseconds = {"heald-agent": {"calls-8": (1.0, 1.5)}}, {"bare": {"calls-8": (4.0, 6.2)}}
    lines = costs_table(Figures("a command", "abc", "2026-11", "a machine", ours, milliseconds)).splitlines()
    assert lines[0] == "| row | eight parallel calls |"
    assert lines[2:4] == ["| bare loop | 4.0 to 6.2 ms |", "| `heald.Agent`, all events | 1.0 to 1.5 × |"]
