"""Reports: means, the worst and the bars; and text that stays text, whatever it says."""

import json
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from PIL import Image

from evaluate_support import png, row
from heald_studio.evaluate.bars import Bar
from heald_studio.evaluate.report import EvaluationReport, Summary
from heald_studio.evaluate.report_files import write_report
from heald_studio.evaluate.report_html import render_html
from heald_studio.evaluate.report_markdown import escape_markdown, render_markdown
from heald_studio.evaluate.row import Pictures, Row
from heald_studio.evaluate.thumbnails import shrink_picture

IMAGE = shrink_picture(png())
HOSTILE = '"><script>alert(1)</script>|`x`\n# big [a](javascript:b) <img src=x onerror=y> ../../etc/passwd'


def only(report: EvaluationReport) -> Summary:
    (summary,) = report.summaries()
    return summary


def figure(summary: Summary, column: str) -> tuple[float | None, float | None, float | None, str]:
    (match,) = [candidate for candidate in summary.figures if candidate.column == column]
    return match.mean, match.median, match.worst, match.where


def test_mean_median_and_worst_of_a_column() -> None:
    report = EvaluationReport(rows=(row("a", 1.0, size=10), row("b", 0.5, size=40), row("c", 0.9, size=20)))
    summary = only(report)
    assert figure(summary, "block") == (pytest.approx(0.8), 0.9, 0.5, "b")
    assert figure(summary, "size") == (pytest.approx(70 / 3), 20, 40, "b")
    assert figure(summary, "cost") == (None, None, None, "")


def test_a_failed_page_scores_nothing_and_has_no_quality() -> None:
    summary = only(EvaluationReport(rows=(row("a", 1.0), row("b", error="It did not come."))))
    assert summary.failed == 1
    assert figure(summary, "text") == (0.5, 0.5, 0.0, "b")
    assert figure(summary, "positioned")[0] == pytest.approx(0.1)


def test_a_page_that_could_not_be_compared_is_left_out() -> None:
    assert figure(only(EvaluationReport(rows=(row("a", 1.0), row("b", None)))), "text") == (1.0, 1.0, 1.0, "a")


def test_groups_are_summed_up_after_all() -> None:
    report = EvaluationReport(rows=(row("a", 1.0, group="tuning"), row("b", 0.6, group="held")))
    assert [(summary.group, summary.count) for summary in report.summaries()] == [
        ("all", 2),
        ("held", 1),
        ("tuning", 1),
    ]


@pytest.mark.parametrize(
    ("bar", "met"),
    [
        (Bar("block", "mean", 0.8), True),
        (Bar("block", "worst", 0.8), False),
        (Bar("block", "worst", 0.7), True),
        (Bar("size", "median", 100), True),
        (Bar("size", "worst", 99), False),
        (Bar("axe", "worst", 0), None),
    ],
)
def test_bars_are_met_or_not_or_not_measured(bar: Bar, met: bool | None) -> None:
    summary = only(EvaluationReport(rows=(row("a", 1.0), row("b", 0.7)), bars=(bar,)))
    assert [verdict.met for verdict in summary.verdicts] == [met]


def test_the_json_has_every_figure_and_no_picture() -> None:
    pictured = replace(row("a", 0.75), pictures=Pictures(target=b"\xff\x00"))
    data = json.loads(EvaluationReport(rows=(pictured,), notes=("Nothing else.",)).as_json())
    assert data["notes"] == ["Nothing else."]
    assert data["rows"][0]["figures"]["block"] == 0.75
    assert data["rows"][0]["score"]["ssim"] == 0.75
    assert "pictures" not in data["rows"][0]
    assert data["summaries"][0]["verdicts"][0]["met"] is False


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def spoken(text: str) -> Row:
    """A row that says the text wherever a row can say something."""
    worded_row = row(text, 0.5)
    return replace(
        worded_row,
        model=text,
        stack=text,
        group=text,
        notes=(text,),
        error=text,
        pictures=Pictures(IMAGE, IMAGE, IMAGE),
    )


def seen(text: str) -> _Seen:
    parser = _Seen()
    parser.feed(render_html(EvaluationReport(rows=(spoken(text),), notes=(text,))))
    parser.close()
    return parser


@settings(deadline=None)
@given(st.text(max_size=60))
def test_text_never_becomes_html(text: str) -> None:
    usual, hostile = seen("plain"), seen(f"x{text}")
    assert hostile.tags == usual.tags
    assert hostile.attributes == usual.attributes


def test_hostile_text_is_shown_as_it_is() -> None:
    parsed = seen(HOSTILE)
    assert "script" not in parsed.tags
    assert HOSTILE in parsed.text


@settings(deadline=None)
@given(st.text(max_size=60))
def test_text_never_becomes_markdown(text: str) -> None:
    usual = render_markdown(EvaluationReport(rows=(spoken("plain"),), notes=("plain",)), [{}])
    rendered = render_markdown(EvaluationReport(rows=(spoken(f"x{text}"),), notes=(text,)), [{}])
    assert rendered.count("\n") == usual.count("\n")
    bare = escape_markdown(text)
    for index, character in enumerate(bare):
        if character in "|<>`[]":
            assert (len(bare[:index]) - len(bare[:index].rstrip("\\"))) % 2 == 1


def test_a_report_is_written_and_stays_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    path = write_report(EvaluationReport(rows=(spoken(HOSTILE), row("b"))), folder)
    assert path == folder / "report.html"
    written = sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file())
    assert len(written) == 6
    assert all(file.startswith("deep/out/") for file in written)
    text = (folder / "report.md").read_text("utf-8")
    for picture in (folder / "pictures").iterdir():
        assert f"(pictures/{picture.name})" in text
    html = path.read_text("utf-8")
    assert html.count("data:image/webp;base64,") == 3
    assert "http" not in html.replace("http-equiv", "")


def test_a_new_report_replaces_the_old_one(tmp_path: Path) -> None:
    write_report(EvaluationReport(rows=(spoken("one"), spoken("two"))), tmp_path)
    write_report(EvaluationReport(rows=(spoken("three"),)), tmp_path)
    assert len(list((tmp_path / "pictures").iterdir())) == 3


def test_half_a_character_does_not_stop_a_report(tmp_path: Path) -> None:
    write_report(EvaluationReport(rows=(spoken("\ud83d half"),)), tmp_path)
    data = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert data["rows"][0]["target"] == "? half"


def test_pictures_are_made_small() -> None:
    with Image.open(BytesIO(shrink_picture(png(1440, 200)))) as small:
        assert (small.format, small.size) == ("WEBP", (720, 100))
    with Image.open(BytesIO(shrink_picture(png(100, 20_000)))) as cut:
        assert cut.height == 6_000
