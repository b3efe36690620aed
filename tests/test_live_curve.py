"""The curve of the served path: which cells `benchmarks.live` measures, what it stores and what it prints."""

from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.curve import ALL_ROWS_AT, COLUMNS, Curve, Failure, Plan, Sample, begin, cells_of, read, renew
from benchmarks.served_figures import BASELINE, PAGE
from benchmarks.served_path import CLIENTS

HEALD = "heald, native, SQLite"
PLAN = Plan(
    cells_of((1, 20), [BASELINE, HEALD]), deltas=10, rounds=2, seconds=60.0, command="python -m benchmarks.live"
)


def _sample(row: str, agents: int, cpu: float, lag: float = 1.0) -> Sample:
    return Sample(row, agents, cpu, lag, 4 * lag, load=0.5)


def _curve(*samples: Sample) -> Curve:
    return replace(begin(PLAN, None, resume=False), samples=list(samples))


def test_every_row_is_measured_at_one_number_of_agents_and_those_of_the_curve_at_all() -> None:
    cells = cells_of((1, ALL_ROWS_AT), [])
    assert [row for row, agents in cells if agents == ALL_ROWS_AT] == list(CLIENTS)
    assert [row for row, agents in cells if agents == 1] == [row for row in CLIENTS if row in COLUMNS]


def test_rows_can_be_chosen_by_parts_of_their_names() -> None:
    assert PLAN.cells == [(BASELINE, 1), (HEALD, 1), (BASELINE, 20), (HEALD, 20)]


def test_a_server_without_a_free_core_is_asked_for_no_more_agents() -> None:
    curve = _curve(_sample(HEALD, 10, cpu=2000.0))
    assert [curve.needs((HEALD, agents), 1) for agents in (1, 10, 20)] == [1, 0, 0]
    assert "full" in replace(curve, samples=[*curve.samples, _sample(BASELINE, 20, 100.0)]).table()


def test_a_server_that_failed_is_still_measured_with_fewer_agents() -> None:
    curve = _curve()
    curve.failures.append(Failure(HEALD, 20, "it closed the connection"))
    assert [curve.needs((HEALD, agents), 2) for agents in (1, 20, 50)] == [2, 0, 0]


def test_a_run_that_was_stopped_goes_on_where_it_ended(tmp_path: Path) -> None:
    curve = _curve(_sample(BASELINE, 1, 200.0), _sample(HEALD, 1, 300.0), _sample(BASELINE, 1, 210.0))
    curve.failures.append(Failure(HEALD, 20, "it closed the connection"))
    curve.store(tmp_path / "results" / "live.json")
    resumed = begin(PLAN, tmp_path / "results" / "live.json", resume=True)
    assert resumed.samples == curve.samples
    assert resumed.missing(PLAN) == 8 - 3, "what failed is tried again"
    assert read(tmp_path / "results" / "live.json") == curve


@pytest.mark.parametrize(("deltas", "commit"), [(PLAN.deltas + 1, None), (PLAN.deltas, "another")])
def test_figures_of_another_length_or_commit_are_not_mixed(tmp_path: Path, deltas: int, commit: str | None) -> None:
    place = tmp_path / "live.json"
    curve = _curve(_sample(BASELINE, 1, 200.0))
    replace(curve, deltas=deltas, commit=commit or curve.commit).store(place)
    with pytest.raises(SystemExit, match="without --resume"):
        begin(PLAN, place, resume=True)


def test_without_a_file_there_is_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no file of figures"):
        begin(PLAN, tmp_path / "live.json", resume=True)


def test_the_table_shows_the_best_cpu_beside_the_proxy_and_the_lag() -> None:
    curve = _curve(
        _sample(BASELINE, 1, 200.0, 0.3),
        _sample(HEALD, 1, 300.0, 1.0),
        _sample(HEALD, 1, 400.0, 2.0),
        _sample(BASELINE, 20, 100.0, 0.3),
    )
    lines = curve.table().splitlines()
    assert lines[0] == "| agents | bare proxy | heald, SQLite |"
    assert lines[2] == "| 1 | 200 µs, 1.0 ×; 0.3 / 1.2 ms | 300 µs, 1.5 ×; 1.5 / 6.0 ms |"
    assert lines[3] == "| 20 | 100 µs, 1.0 ×; 0.3 / 1.2 ms | – |"


def test_a_whole_run_puts_its_curve_and_its_table_into_the_page_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr("benchmarks.curve.PAGE", page)
    monkeypatch.setattr("benchmarks.served_figures.PAGE", page)
    monkeypatch.setattr("benchmarks.served_figures.FILE", tmp_path / "served.json")
    for cpu in (300.0, 400.0):
        curve = _curve(_sample(BASELINE, ALL_ROWS_AT, 100.0), _sample(HEALD, ALL_ROWS_AT, cpu))
        renew(curve)
        text = page.read_text("utf-8")
        assert text.count("| agents | ") == 1
        assert curve.table() in text
        assert f"| {HEALD} | {cpu:.0f} µs | {cpu / 100:.1f} × |" in text
        assert text.index("| server |") < text.index("| agents | ") < text.index("Many readers of one server")
