"""Public pages as targets: which are drawn, and the table of what was measured on them."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from evaluate_support import png
from heald_studio.evaluate.design2code import Design2Code
from heald_studio.evaluate.document_figures import Count, DocumentFigures
from heald_studio.evaluate.report import EvaluationReport
from heald_studio.evaluate.report_files import write_report
from heald_studio.evaluate.row import Row
from repository import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks/public_pages.py").is_file(), reason="only in a checkout")
FIGURES = DocumentFigures(
    links=Count(3, 4),
    fields=Count(1, 1),
    headings=Count(2, 2),
    lists=Count(0, 1),
    tables=Count(0, 0),
    weight=Count(9, 10),
    style=Count(10, 10),
    size=Count(8, 10),
    wrap=Count(5, 6),
    unread=Count(1, 6),
    charts=0,
    new_fields=1,
    letters=2,
    by_place=0,
    hollow=0,
)


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.public_pages", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_pages_are_drawn_into_two_groups_with_the_pictures_that_they_show(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in ("5", "9", "4", "6", "7", "alone"):
        (source / f"{name}.png").write_bytes(png())
        if name != "alone":
            (source / f"{name}.html").write_text("<p>x")
    ran = _run("draw", str(source), str(tmp_path / "all"))
    assert ran.stdout.splitlines() == ["tuning: 2 of 2", "measured: 3 of 3"]
    assert _names(tmp_path / "all/tuning") == ["5.html", "5.png", "9.html", "9.png", "alone.png"]
    for attempt in ("first", "second"):
        _run("draw", str(source), str(tmp_path / attempt), "--count", "1")
    assert _names(tmp_path / "first/measured") == _names(tmp_path / "second/measured")
    assert len(_names(tmp_path / "first/measured")) == 3


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    ran = _run("draw", str(tmp_path), str(tmp_path / "to"))
    assert ran.returncode == 1
    assert "There is no NAME.png with a NAME.html" in ran.stderr


def test_the_table_pools_counts_and_leaves_pages_out_that_do_not_match_themselves(tmp_path: Path) -> None:
    good = Row(
        target="tuning/5",
        group="tuning",
        model="m",
        stack="html_css",
        document=FIGURES,
        design2code=Design2Code(0.9, 1.0, 1.0, 1.0),
        identity=Design2Code(1.0, 1.0, 1.0, 1.0),
        seen=1.0,
    )
    unseen = replace(good, target="tuning/17", design2code=Design2Code(0.3, 1.0, 1.0, 1.0), seen=0.4)
    odd = replace(
        good, target="tuning/9", design2code=Design2Code(0.1, 0.1, 0.1, 0.1), identity=Design2Code(0.5, 1.0, 1.0, 1.0)
    )
    failed = replace(good, target="tuning/13", error="It crashed.", design2code=None, document=None)
    write_report(EvaluationReport(rows=(good, odd, unseen, failed)), tmp_path)
    table = _run("table", str(tmp_path)).stdout
    assert "| pages | 4 |" in table
    assert "| Design2Code block, mean | 0.400 |" in table
    assert "| pages of which it sees 95 % of the lines | 2 |" in table
    assert "| block on these, mean | 0.450 |" in table
    assert "| links | 9 of 12 (75 %) |" in table
    assert "| letters as pictures | 6 |" in table
    assert "tuning/9 (0.500)" in table
    assert "Failed: tuning/13: It crashed." in table
    stored = tmp_path / "stored.json"
    assert _run("keep", str(tmp_path), str(stored), "--run", "make eval PAGES=folder").returncode == 0
    assert '"command": "make eval PAGES=folder"' in stored.read_text("utf-8")
    assert _run("table", str(stored)).stdout == table
