"""The page of the documentation is made from a report: bars, figures, and small pictures side by side."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from PIL import Image

from evaluate_support import png, row
from heald_studio.evaluate.report import EvaluationReport
from heald_studio.evaluate.report_files import write_report
from heald_studio.evaluate.row import Pictures
from heald_studio.evaluate.thumbnails import shrink_picture
from repository import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks/pages/report.py").is_file(), reason="only in a checkout")


def _made(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.pages.report", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


def test_a_report_becomes_a_page_with_pictures(tmp_path: Path) -> None:
    pictures = Pictures(shrink_picture(png(1280, 4000)), shrink_picture(png(1280, 3000, "#a33")))
    good = replace(row("held/one", 0.99, group="held"), pictures=pictures)
    bad = replace(row("tuning/two", 0.5, group="tuning"), pictures=pictures)
    lost = row("tuning/three", group="tuning", error="The page was not finished after 600 s.")
    hidden = replace(row("sealed/four", 0.99, group="sealed"), pictures=pictures)
    write_report(EvaluationReport(rows=(good, bad, lost, hidden)), tmp_path / "report")
    (tmp_path / "docs").mkdir()
    done = _made(str(tmp_path / "report"), "--docs", str(tmp_path / "docs"), "--note", "Made for a test.")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "docs/evaluation.md").read_text("utf-8")
    assert "| mean block at least 0.970 | 0.990 | – | 0.990 | **0.250** | **0.620** |" in text
    assert "Made for a test." in text
    assert "The worst of sealed: block 0.990 (sealed/four)" in text
    assert "### sealed/four" not in text
    assert text.index("### held/one") < text.index("### tuning/three")
    assert "The page was not finished after 600 s." in text
    assert "![held/one: given and made](evaluation/held-one.webp)" in text
    with Image.open(tmp_path / "docs/evaluation/held-one.webp") as picture:
        assert picture.size == (808, 640)
    assert {path.name for path in (tmp_path / "docs/evaluation").iterdir()} == {"held-one.webp", "tuning-two.webp"}


def test_without_a_report_it_states_what_to_do(tmp_path: Path) -> None:
    done = _made(str(tmp_path))
    assert done.returncode == 1
    assert "run heald eval" in done.stderr
