"""Checkers of others: found, missing, broken, and never switched off by the page."""

import shutil
from pathlib import Path

import pytest

from heald.core.errors import ConfigurationError
from heald_studio.evaluate.checkers import Checkers, find_checkers
from repository import ROOT

TOOLS = ROOT / "benchmarks" / "pages" / "tools"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed here")
needs_tools = pytest.mark.skipif(
    shutil.which("node") is None or not (TOOLS / "node_modules").is_dir(),
    reason="the checkers are not installed: npm ci --prefix benchmarks/pages/tools",
)


def with_validator(folder: Path, script: str) -> Checkers:
    place = folder / "node_modules" / "html-validate" / "bin"
    place.mkdir(parents=True)
    (place / "html-validate.mjs").write_text(script)
    return find_checkers(folder)


def test_without_checkers_it_is_reported_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEALD_EVAL_TOOLS", raising=False)
    missing = find_checkers().missing
    assert len(missing) == 2
    assert "axe-core was not found" in missing[0]
    assert "html-validate was not found" in missing[1]


async def test_without_a_validator_nothing_is_known() -> None:
    assert await Checkers().validate_html("<p>") is None


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    axe = tmp_path / "node_modules" / "axe-core"
    axe.mkdir(parents=True)
    (axe / "axe.min.js").write_text("var axe;")
    monkeypatch.setenv("HEALD_EVAL_TOOLS", str(tmp_path))
    assert find_checkers().axe == "var axe;"
    monkeypatch.setenv("HEALD_EVAL_TOOLS", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigurationError, match="There is no folder 'nowhere'"):
        find_checkers()


@needs_node
async def test_only_errors_count(tmp_path: Path) -> None:
    error = '{"ruleId": "a", "severity": 2, "message": "bad", "line": 3}'
    warning = '{"ruleId": "b", "severity": 1, "message": "poor", "line": 4}'
    report = f'[{{"messages": [{error}, {warning}]}}]'
    checkers = with_validator(tmp_path, f"process.stdout.write(`{report}`); process.exitCode = 1")
    assert await checkers.validate_html("<p>") == ("a in line 3: bad",)


@needs_node
@pytest.mark.parametrize("script", ["process.exit(3)", "console.log('no json')", "throw 1", "syntax error ("])
async def test_a_broken_validator_is_no_measure(tmp_path: Path, script: str) -> None:
    assert await with_validator(tmp_path, script).validate_html("<p>" * 100_000) is None


@needs_node
async def test_a_validator_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald_studio.evaluate.checkers._VALIDATOR_SECONDS", 0.5)
    assert await with_validator(tmp_path, "setInterval(() => {}, 1000)").validate_html("<p>") is None


@needs_tools
async def test_html_is_checked_by_the_standard() -> None:
    checkers = find_checkers(TOOLS)
    good = '<!doctype html>\n<html lang="en"><head><title>t</title></head><body><p>fine</p></body></html>\n'
    assert await checkers.validate_html(good) == ()
    bad = await checkers.validate_html(good.replace("<p>fine</p>", "<ul><p>no</p></ul>"))
    assert bad is not None
    assert any("not permitted" in message for message in bad)


@needs_tools
async def test_a_page_cannot_switch_the_rules_off() -> None:
    page = '<!doctype html>\n<html lang="en"><head><title>t</title></head><body>{}<ul><p>no</p></ul></body></html>\n'
    honest = await find_checkers(TOOLS).validate_html(page.format(""))
    silenced = await find_checkers(TOOLS).validate_html(
        page.format("<!-- [html-validate-disable element-permitted-content] -->")
    )
    assert honest is not None
    assert silenced is not None
    assert len(silenced) == len(honest) > 0
