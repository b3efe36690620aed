"""How close a variant comes to its picture, by a real rendering; and a turn to mend what is far from it."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import heald_studio.browser.browser as browser_module
from heald.core.events import ExchangeRequest, ExchangeResponse
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport
from heald_studio.preview.preview import ProjectPreview
from heald_studio.projects.project import VariantRef
from heald_studio.request import BuildRequest
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium
from studio_support import OWNER, S, Script, desk, page, texts_of, view, writes

GOOD = """<!doctype html><html><head><title>Harbour</title><style>
body { margin: 0; font: 28px/1.4 sans-serif; color: #102030; background: #fff }
header { background: #123456; color: #fff; padding: 24px } main { padding: 24px } b { color: #b00020 }
</style></head><body><header>Harbour of Oslo</header><main><p>Boats leave every <b>twenty</b> minutes.</p>
<p>Tickets are sold on board.</p></main></body></html>
"""
BAD = "<!doctype html><html><body style='background: #ffd'><p>Something else entirely</p></body></html>\n"


@pytest.fixture
async def browser(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Browser]:
    browser = Browser(pages=2, seconds=60)
    monkeypatch.setattr(browser_module, "_shared", browser)
    yield browser
    await asyncio.to_thread(browser.close)


@needs_chromium
async def test_a_low_score_is_followed_by_a_turn_that_repairs(tmp_path: Path, browser: Browser) -> None:
    seen = await browser.render(
        ProjectPreview(find_stack("html_css"), {"index.html": GOOD}), viewport=Viewport(800, 600)
    )
    mending = S(
        [
            [S.call("create_file", path="index.html", content=BAD)],
            "Built.",
            [S.call("create_file", path="index.html", content=GOOD)],
            "Corrected.",
        ],
        piece=256,
    )
    scripts: dict[str, Script] = {"good": writes(GOOD), "mending": lambda: mending}
    async with desk(tmp_path, scripts, scores=True, repair_below=0.9) as studio:
        brief = BuildRequest(views=(view(seen.picture),), mode="image", stack="html_css", models=("good", "mending"))
        project, version = await studio.built(brief)
        good, mended = version.variants
        assert (good.status, mended.status) == ("completed", "completed")
        assert good.score is not None
        assert good.score.overall > 0.95
        assert (good.turns, mended.turns) == (2, 4)
        assert mended.score is not None
        assert mended.score.overall > 0.95
        assert (await studio.studio.files(OWNER, project.id, VariantRef(version.id, 1)))["index.html"] == GOOD.encode()
        asked = [event.data for event in await studio.log(mended) if isinstance(event.data, ExchangeRequest)]
        ends = [event.data for event in await studio.log(mended) if isinstance(event.data, ExchangeResponse)]
        assert len(asked) == len(ends) == 2
        assert mended.usage.output == sum(end.usage.output or 0 for end in ends)
        assert "What differs most:\n- " in texts_of(asked[1].message)
        await studio.check(version)


async def test_without_chromium_all_is_there_but_the_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", str(tmp_path / "nothing"))
    lost = Browser()
    monkeypatch.setattr(browser_module, "_shared", lost)
    async with desk(tmp_path, writes(page()), scores=True, repair_below=0.9) as studio:
        project, version = await studio.built(BuildRequest(views=(view(),), mode="image", variants=1))
        (variant,) = version.variants
        assert (variant.status, variant.score, variant.error) == ("completed", None, None)
        assert await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0))
    await asyncio.to_thread(lost.close)


@pytest.mark.parametrize("kind", ["cancelled", "failed"])
async def test_what_was_stopped_or_failed_is_not_repaired(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    async def marks(*_: object) -> None:
        looked.append("looked")

    monkeypatch.setattr("heald_studio.score.scoring.score_variant", marks)
    files = S.call("create_file", path="index.html", content=page())
    rest: list[object] = ["word " * 5000] if kind == "cancelled" else []  # without a script for it, the turn fails
    model = S([[files], *rest], piece=8, pause=0.005)  # pyright: ignore[reportArgumentType]
    async with desk(tmp_path, lambda: model, scores=True, repair_below=0.9) as studio:
        project = await studio.studio.create(OWNER, BuildRequest(views=(view(),), mode="image", variants=1))
        version = project.versions[0]
        while not await studio.studio.files(OWNER, project.id, VariantRef(version.id, 0)):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if kind == "cancelled":
            await studio.studio.cancel(OWNER, project.id, VariantRef(version.id, 0))
        version = await studio.studio.wait_version(OWNER, project.id, version.id)
        assert version.variants[0].status == kind
        assert looked == []
        log = await studio.log(version.variants[0])
        assert sum(isinstance(event.data, ExchangeResponse) for event in log) == 1
