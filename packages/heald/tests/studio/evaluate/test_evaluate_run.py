"""The whole run, in a real browser: the original, a damaged copy, and converters that fail."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.json import encode

from evaluate_support import Damaged, Original, draw_targets
from heald.core.errors import ConfigurationError, HealdError
from heald_local.see.models import available
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import MOBILE, serve_files
from heald_studio.evaluate.bars import BARS
from heald_studio.evaluate.checkers import Checkers
from heald_studio.evaluate.conversion import Conversion
from heald_studio.evaluate.evaluation import evaluate
from heald_studio.evaluate.report import EvaluationReport
from heald_studio.evaluate.report_files import write_report
from heald_studio.evaluate.row import Row
from heald_studio.evaluate.row_store import RowStore
from heald_studio.stacks.stack import Stack
from needed_programs import needs_chromium

pytestmark = [needs_chromium, pytest.mark.usefixtures("one_width")]


@pytest.fixture
async def pages(browser: Browser, tmp_path: Path) -> dict[bytes, str]:
    return await draw_targets(browser, tmp_path / "targets")


def of(report: EvaluationReport, model: str, target: str) -> Row:
    (row,) = [candidate for candidate in report.rows if (candidate.model, candidate.target) == (model, target)]
    return row


async def test_the_original_is_perfect_and_a_damaged_copy_is_not(
    browser: Browser, pages: dict[bytes, str], tmp_path: Path
) -> None:
    reported_rows: list[Row] = []
    report = await evaluate(
        tmp_path / "targets",
        {"original": Original(pages), "damaged": Damaged(pages)},
        browser=browser,
        checkers=Checkers(),
        progress=reported_rows.append,
    )
    assert reported_rows == list(report.rows)
    assert [(entry.target, entry.model) for entry in report.rows] == [
        ("one/hello", "original"),
        ("one/hello", "damaged"),
        ("two/form", "original"),
        ("two/form", "damaged"),
    ]
    for name in ("one/hello", "two/form"):
        good, bad = of(report, "original", name), of(report, "damaged", name)
        assert good.score is not None
        assert bad.score is not None
        assert good.quality is not None
        assert bad.quality is not None
        assert good.parts is not None
        assert bad.parts is not None
        assert (good.parts.controls, bad.parts.controls) == ((1, 0) if name == "two/form" else (None, None))
        assert (good.score.block, good.score.text, good.score.position) == (1, 1, 1)
        assert (good.score.colour, good.score.ssim, good.score.differences) == (1, 1, ())
        assert bad.score.overall < good.score.overall
        assert bad.score.position < 1
        assert bad.score.colour < 1
        assert bad.score.block < 1
        assert good.quality.positioned == 0 < bad.quality.positioned
        assert good.pictures.target == good.pictures.result != bad.pictures.result
        assert good.pictures.heat
        assert not good.error
    assert len(report.notes) == 2
    summaries = {(entry.model, entry.group): entry for entry in report.summaries()}
    assert set(summaries) == {(model, group) for model in ("original", "damaged") for group in ("all", "one", "two")}
    machine = {"seconds", "preview", "memory"}  # the machine's to say, and the test run's
    judged = [entry for entry in summaries["original", "all"].verdicts if entry.column not in machine]
    assert judged
    assert all(entry.met is not False for entry in judged)
    assert any(entry.met is False for entry in summaries["damaged", "all"].verdicts)
    assert len(summaries["original", "all"].verdicts) == len(BARS)
    html = write_report(report, tmp_path / "report").read_text("utf-8")
    assert html.count("<figure>") == 12


async def test_what_a_converter_knows_is_in_the_row(browser: Browser, pages: dict[bytes, str], tmp_path: Path) -> None:
    async def paid(target: bytes, stack: Stack, /) -> Conversion:
        await asyncio.sleep(0.05)
        files = {stack.entry: pages[target].replace("</h1>", '</h1><img src="gone.png" alt="">')}
        return Conversion(files=files, cost_usd=0.02, first_preview_seconds=0.01, notes=("Guessed the font.",))

    report = await evaluate(tmp_path / "targets" / "one", {"paid": paid}, browser=browser, checkers=Checkers())
    (row,) = report.rows
    assert (row.cost_usd, row.first_preview_seconds) == (0.02, 0.01)
    assert row.seconds >= 0.05
    assert "Guessed the font." in row.notes
    assert "Not found: gone.png" in row.notes


async def test_converters_that_fail_are_rows_and_the_run_goes_on(
    browser: Browser, pages: dict[bytes, str], tmp_path: Path
) -> None:
    async def raises(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        raise KeyError("/secret/path")

    async def refuses(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        raise ConfigurationError("There is no key for this model; set one.")

    async def makes_nothing(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        return {}

    async def names_no_page(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        return {"other.txt": "hello"}

    async def hangs(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        await asyncio.sleep(3600)
        return {}

    converters = {
        "raises": raises,
        "refuses": refuses,
        "nothing": makes_nothing,
        "no page": names_no_page,
        "hangs": hangs,
        "original": Original(pages),
    }
    report = await evaluate(tmp_path / "targets" / "one", converters, browser=browser, checkers=Checkers(), seconds=2)
    errors = {row.model: row.error for row in report.rows}
    assert errors == {
        "raises": "The converter failed (KeyError); look at it outside the evaluation.",
        "refuses": "There is no key for this model; set one.",
        "nothing": "The converter made no file.",
        "no page": errors["no page"],
        "hangs": "The page was not finished after 2 s.",
        "original": "",
    }
    assert "index.html" in errors["no page"]
    assert write_report(report, tmp_path / "report").is_file()


async def test_cancelling_ends_the_run(browser: Browser, pages: dict[bytes, str], tmp_path: Path) -> None:
    started = asyncio.Event()

    async def hangs(target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        started.set()
        await asyncio.sleep(3600)
        return {}

    task = asyncio.create_task(evaluate(tmp_path / "targets", {"hangs": hangs}, browser=browser, checkers=Checkers()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_there_must_be_something_to_evaluate(browser: Browser, pages: dict[bytes, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nothing to evaluate"):
        await evaluate(tmp_path / "targets", {}, browser=browser)
    with pytest.raises(ConfigurationError, match="There is no stack 'cobol'"):
        await evaluate(tmp_path / "targets", {"original": Original(pages)}, ["cobol"], browser=browser)


async def test_a_phone_is_looked_at_as_a_phone(browser: Browser, tmp_path: Path) -> None:
    page = """<!doctype html><html lang="en"><head><title>t</title><meta name="viewport" content="width=device-width">
<style>p{display:none}@media (max-width:400px){p{display:block}}</style></head><body><h1>Top</h1><p>Only on phones</p>
</body></html>"""
    seen = await browser.render(serve_files({"index.html": page}), viewport=MOBILE, mobile=True)
    assert [line.text for line in seen.texts] == ["Top", "Only on phones"]
    (tmp_path / "phone.png").write_bytes(seen.picture)
    (tmp_path / "phone.json").write_bytes(encode({"texts": seen.texts}))
    report = await evaluate(
        tmp_path, {"original": Original({seen.picture: page})}, browser=browser, checkers=Checkers()
    )
    (row,) = report.rows
    assert row.score is not None
    assert row.score.overall == 1


class Counted(Original):
    """Counts the pages that it is asked for; the first of them fails if that is wanted."""

    def __init__(self, pages: Mapping[bytes, str], *, failures: int = 0) -> None:
        super().__init__(pages)
        self.count, self.failures = 0, failures

    async def __call__(self, target: bytes, stack: Stack, /) -> Mapping[str, str | bytes]:
        self.count += 1
        if self.count <= self.failures:
            raise HealdError("Out of luck.")
        return await super().__call__(target, stack)


async def test_a_run_continues_with_what_an_earlier_one_finished(
    browser: Browser, pages: dict[bytes, str], tmp_path: Path
) -> None:
    store = RowStore(tmp_path / "report")
    first = Counted(pages, failures=1)
    broken = await evaluate(tmp_path / "targets", {"model": first}, browser=browser, checkers=Checkers(), store=store)
    assert [bool(row.error) for row in broken.rows] == [True, False]
    second = Counted(pages)
    whole = await evaluate(tmp_path / "targets", {"model": second}, browser=browser, checkers=Checkers(), store=store)
    assert (first.count, second.count) == (2, 1)
    assert {(row.target, row.error) for row in whole.rows} == {("one/hello", ""), ("two/form", "")}
    assert of(whole, "model", "two/form") == of(broken, "model", "two/form")
    for path in (tmp_path / "report" / "rows").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    third = Counted(pages)
    await evaluate(tmp_path / "targets", {"model": third}, browser=browser, checkers=Checkers(), store=store)
    assert third.count == 2
    store.clear()
    assert list((tmp_path / "report" / "rows").iterdir()) == []


async def test_a_true_score_comes_with_the_one_without_the_text(
    browser: Browser, pages: dict[bytes, str], tmp_path: Path
) -> None:
    if not available():
        pytest.skip("the extra local is not installed here")
    report = await evaluate(tmp_path / "targets", {"original": Original(pages)}, browser=browser, checkers=Checkers())
    for row in report.rows:
        assert row.score is not None
        assert row.own is not None
        assert abs(row.own.overall - row.score.overall) <= 0.1
        assert row.cpu_seconds >= 0
    columns = {column.key for column in report.columns()}
    assert {"own", "own_block", "flatters", "agrees"} <= columns
