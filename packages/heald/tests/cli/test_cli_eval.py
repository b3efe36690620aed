"""`heald eval`: pictures through a scripted model, measured in a real browser."""

import json

import pytest

from cli_bench import Ran, is_one_line_error, run
from cli_pages import builder, here, picture
from heald.testing.server import ScriptedServer
from needed_programs import needs_chromium

pytestmark = pytest.mark.usefixtures("headless_shell")

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def shots() -> None:
    here("shots").mkdir()
    picture(here("shots/one.png"))
    here("shots/one.json").write_text('{"texts": []}')


async def evaluate(capsys: Capture, server: ScriptedServer, *arguments: str) -> Ran:
    return await run(capsys, "eval", "shots", "--base-url", f"{server.url}/v1", *arguments)


@needs_chromium
@pytest.mark.usefixtures("shots")
async def test_a_report_over_models(capsys: Capture) -> None:
    async with ScriptedServer(builder) as server:
        ran = await evaluate(
            capsys, server, "--models", "good,broken", "--stacks", "html_css", "-o", "report", "--json"
        )
        again = await evaluate(capsys, server, "--models", "broken")
    assert ran.code == 0, ran.err
    rows = {row["model"]: row for row in json.loads(ran.out)["rows"]}
    assert 0 < rows["good"]["figures"]["overall"] <= 1
    assert rows["good"]["seconds"] > 0
    assert rows["good"]["first_preview_seconds"] is not None
    assert "no such thing" in rows["broken"]["error"]
    assert {"report.html", "report.md", "report.json"} <= {path.name for path in here("report").iterdir()}
    assert again.code == 1  # nothing could be converted
    assert "1/1 one, broken, html_css: " in again.err
    assert again.out.splitlines()[-1] == "report/report.html"


@pytest.mark.usefixtures("shots")
async def test_what_cannot_be_evaluated(capsys: Capture) -> None:
    here("mine").mkdir()
    here("mine/thesis.txt").write_text("years of work")
    here("empty").mkdir()
    async with ScriptedServer(builder) as server:
        place = ["--base-url", f"{server.url}/v1", "--models", "m"]
        for words, said in (
            (["shots", *place, "-o", "mine"], "holds other things"),
            (["shots", *place, "-o", "mine/thesis.txt/out"], "cannot be made"),
            (["empty", *place], "There is no picture"),
            (["nowhere", *place], "is not a folder"),
            (["shots", *place, "--stacks", "cobol"], "There is no stack"),
            (["shots", "--models", "anthropic/claude-sonnet-4-6"], "ANTHROPIC_API_KEY"),
        ):
            ran = await run(capsys, "eval", *words)
            assert ran.code == 2, (words, ran.err)
            assert is_one_line_error(ran)
            assert said in ran.err
        assert server.requests == []


@needs_chromium
@pytest.mark.usefixtures("shots", "one_width")
async def test_shares_make_rows_and_a_resumed_run_makes_the_report_of_them(capsys: Capture) -> None:
    picture(here("shots/two.png"), 320, 160)
    here("shots/two.json").write_text('{"texts": []}')
    asked = ("--models", "good", "-o", "report", "--resume")
    async with ScriptedServer(builder) as server:
        first = await evaluate(capsys, server, *asked, "--share", "1/2")
        before = len(server.requests)
        assert first.code == 0, first.err
        assert "Rows in report/rows: 1." in first.out
        assert not here("report/report.html").exists()
        whole = await evaluate(capsys, server, *asked)
        after = len(server.requests)
        assert whole.code == 0, whole.err
        assert after > before
        once_more = await evaluate(capsys, server, *asked)
        assert (once_more.code, len(server.requests)) == (0, after)
        wrong = await evaluate(capsys, server, *asked, "--share", "3/2")
    assert {row["target"] for row in json.loads(here("report/report.json").read_bytes())["rows"]} == {"one", "two"}
    assert wrong.code == 2
    assert is_one_line_error(wrong)
    assert "write one such as 1/2" in wrong.err
