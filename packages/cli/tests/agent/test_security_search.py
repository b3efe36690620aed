"""R01 to R04: no pattern of a model takes long, holds the loop, or leaves the workspace."""

import asyncio
from pathlib import Path

import pytest
from security_support import Heartbeat, Stage

from log_support import call

LAG = 0.5
"""Seconds. Generous: a backtracking pattern would hold the loop for many."""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a+)+$",
        "(a|a)*b",
        "(.*a){25}",
        r"\d+\d+\d+$",
        "(a*)*(a*)*(a*)*x",
        "(?:a?){50}a{50}b",
        "([a-z]+)+[0-9]",
        "(x+x+)+y",
    ],
)
async def test_r01_patterns_that_explode_elsewhere(stage: Stage, pattern: str) -> None:
    (stage.inside / "trap.txt").write_text("a" * 27 + "!\n" + "1" * 30_000 + "x\n" + "x" * 30_000 + "\n")
    (stage.inside / "long.txt").write_text("a" * 1_000_000)
    async with Heartbeat() as heart, asyncio.timeout(120):
        (result,) = await stage.calls(call("search_files", pattern=pattern), tools=["files"])
    assert result.status == "ok", result.text
    assert heart.lag < LAG


async def test_r01_look_around_is_refused(stage: Stage) -> None:
    async with Heartbeat() as heart:
        (result,) = await stage.calls(call("search_files", pattern="(?=(a+))*"), tools=["files"])
    assert result.text.startswith("invalid_pattern: ")
    assert heart.lag < LAG


@pytest.mark.parametrize(
    "pattern",
    [
        "[",
        "(?P<",
        r"\1",
        "(?i",
        "x{1000000}",
        "(((a{99}){99}){99}){99}",
        "a" * 100_000,
        "*",
        "a**",
        "\\",
        ")",
        "(?<=a)b",
    ],
    ids=lambda pattern: pattern[:12],
)
async def test_r02_invalid_patterns_are_reported(stage: Stage, pattern: str) -> None:
    async with Heartbeat() as heart, asyncio.timeout(120):
        (result,) = await stage.calls(call("search_files", pattern=pattern), tools=["files"], piece=4096)
    assert (result.status, result.is_error) == ("error", True)
    assert result.text.startswith("invalid_pattern: "), result.text
    assert len(result.text) < 2000
    assert heart.lag < LAG


@pytest.mark.parametrize(
    "pattern", ["../**", "/**", "**/../../**", "sub/../../OUT/*", "./../**", "{..,sub}/**", "link/../../OUT/*"]
)
async def test_r04_globs_that_escape(stage: Stage, pattern: str) -> None:
    results = await stage.calls(
        call("glob", pattern=pattern), call("search_files", pattern=".", glob=pattern), tools=["files"]
    )
    for result in results:
        assert "secret" not in result.text
        assert result.is_error or pattern == "{..,sub}/**", result.text


@pytest.mark.parametrize("pattern", ["link/**", "near/*", "**/secret*", "{link,sub}/*", "[l]ink/*", "**"])
async def test_r04_globs_through_links(stage: Stage, pattern: str) -> None:
    results = await stage.calls(
        call("glob", pattern=pattern), call("search_files", pattern=".", glob=pattern), tools=["files"]
    )
    assert "secret" not in "".join(result.text for result in results)


@pytest.mark.parametrize(
    "pattern",
    ["{a,b}" * 20 + "x", "{" * 8 + "a" + "}" * 8, "{" * 500 + "a" + "}" * 500, "*" * 1500, "*a" * 900, "**/" * 600],
)
async def test_r04_patterns_that_grow_elsewhere(stage: Stage, pattern: str) -> None:
    (stage.inside / ("a" * 200)).write_text("x")
    async with Heartbeat() as heart, asyncio.timeout(120):
        await stage.calls(
            call("glob", pattern=pattern), call("find_file", query=pattern[:300]), tools=["files"], piece=4096
        )
    assert heart.lag < LAG
