"""A page that the converter drafts and a model polishes: its request, its tools and its scores."""

import argparse
import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import heald_studio.browser.browser as browser_module
from heald.config.keys import command_keys
from heald.core.errors import ConfigurationError
from heald.core.events import ExchangeRequest
from heald.sessions.store_errors import NoSuchSession
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport
from heald_studio.commands.build import add_arguments
from heald_studio.commands.build_request import read_request
from heald_studio.commands.score_text import format_score
from heald_studio.preview.preview import ProjectPreview
from heald_studio.projects.drafts import DRAFT_IS_ENOUGH
from heald_studio.projects.project import VariantRef, VariantScore
from heald_studio.request import BuildRequest
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium
from studio_support import OWNER, S, Script, desk, images_of, page, picture, texts_of, view, writes

TARGET = """<!doctype html><html><head><title>Harbour</title><style>
body { margin: 0; font: 28px/1.4 sans-serif; color: #102030; background: #fff }
header { background: #123456; color: #fff; padding: 24px } main { padding: 24px }
</style></head><body><header>Harbour of Oslo</header><main><p>Boats leave every twenty minutes.</p>
<p>Tickets are sold on board.</p></main></body></html>
"""
WRONG, RIGHT = "Boots leave every plenty of minutes.", "Boats leave every twenty minutes."
DRAFT = TARGET.replace(RIGHT, WRONG)


def edits() -> S:
    """A model that corrects the wrong words and nothing else."""
    return S([[S.call("edit_file", path="index.html", old_text=WRONG, new_text=RIGHT)], "Corrected."], piece=64)


@pytest.fixture
async def browser(monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Browser]:
    browser = Browser(pages=2, seconds=60)
    monkeypatch.setattr(browser_module, "_shared", browser)
    yield browser
    await asyncio.to_thread(browser.close)


@pytest.fixture
def no_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", str(tmp_path / "nothing"))
    monkeypatch.setattr(browser_module, "_shared", Browser())


async def draw(browser: Browser) -> bytes:
    preview = ProjectPreview(find_stack("html_css"), {"index.html": TARGET})
    return (await browser.render(preview, viewport=Viewport(800, 600))).picture


@needs_chromium
async def test_models_edit_the_draft_of_the_converter_and_both_scores_are_there(
    tmp_path: Path, browser: Browser
) -> None:
    scripts: dict[str, Script] = {"local/vision": writes(DRAFT), "first": edits, "second": edits}
    async with desk(tmp_path, scripts, scores=True) as studio:
        brief = BuildRequest(
            views=(view(await draw(browser)),), mode="image", stack="html_css", models=("first", "second"), draft=True
        )
        project, version = await studio.built(brief)
        assert len(studio.models.opened["local/vision"]) == 1  # one draft for both
        for variant in version.variants:
            assert (variant.status, variant.error, variant.turns) == ("completed", None, 2)
            assert variant.draft_score is not None
            assert variant.score is not None
            assert variant.draft_score.text < 1
            assert variant.score.overall > variant.draft_score.overall
            files = await studio.studio.files(OWNER, project.id, VariantRef(version.id, variant.index))
            assert files["index.html"] == TARGET.encode()
        (request,) = studio.asked("first")
        asked = texts_of(request)
        assert DRAFT in asked
        assert f"“{RIGHT}” reads “{WRONG}”." in asked
        assert len(images_of(request)) == 1
        tools = {tool.name for tool in studio.models.opened["first"][0].requests[0].tools}
        assert {"edit_file", "read_file", "compare_with_target"} <= tools
        assert not tools & {"create_file", "write_file", "apply_patch"}
        await studio.check(version)


@needs_chromium
async def test_a_draft_without_a_difference_costs_nothing(tmp_path: Path, browser: Browser) -> None:
    scripts: dict[str, Script] = {"local/vision": writes(TARGET), "paid": edits}
    async with desk(tmp_path, scripts, scores=True) as studio:
        brief = BuildRequest(
            views=(view(await draw(browser)),), mode="image", stack="html_css", models=("paid",), draft=True
        )
        _, version = await studio.built(brief)
        (variant,) = version.variants
        assert (variant.status, variant.turns, variant.cost_usd) == ("completed", 0, 0.0)
        assert variant.note == DRAFT_IS_ENOUGH
        assert variant.score == variant.draft_score is not None
        assert variant.has_page
        assert "paid" not in studio.models.opened


@pytest.mark.usefixtures("no_browser")
async def test_a_retry_begins_with_the_same_draft_and_deletion_removes_it(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"local/vision": writes(DRAFT), "one": edits}
    async with desk(tmp_path, scripts) as studio:
        brief = BuildRequest(views=(view(),), mode="image", stack="html_css", models=("one",), draft=True)
        project, version = await studio.built(brief)
        assert version.variants[0].draft_score is None  # nothing renders it here
        retried = await studio.studio.retry(OWNER, project.id, VariantRef(version.id, 0))
        retried = await studio.studio.wait_version(OWNER, project.id, retried.id)
        assert [attempt.status for attempt in retried.variants[0].tries] == ["completed", "completed"]
        assert len(studio.models.opened["local/vision"]) == 1
        log = await studio.log(retried.variants[0])
        request = next(event.data.message for event in log if isinstance(event.data, ExchangeRequest))
        assert request is not None
        assert DRAFT in texts_of(request)
        await studio.studio.delete(OWNER, project.id)
        with pytest.raises(NoSuchSession):
            await studio.context.sessions.store.info(version.draft)


@pytest.mark.usefixtures("no_browser")
async def test_a_failed_draft_fails_the_variants_and_no_model_is_paid(tmp_path: Path) -> None:
    scripts: dict[str, Script] = {"local/vision": lambda: S(["I cannot."]), "one": writes(page())}
    async with desk(tmp_path, scripts) as studio:
        brief = BuildRequest(views=(view(),), mode="image", stack="html_css", models=("one",), draft=True)
        _, version = await studio.built(brief)
        (variant,) = version.variants
        assert variant.status == "failed"
        assert variant.error is not None
        assert variant.error.message.startswith("No draft could be made: the converter wrote no page.")
        assert "one" not in studio.models.opened


@pytest.mark.usefixtures("no_browser")
async def test_a_scaffold_is_replaced_by_the_draft_and_words_are_kept(tmp_path: Path) -> None:
    stack = find_stack("react_vite")
    component = "export default function App() {\n  return <h1>Harbour</h1>\n}\n"
    entry = next(path for path in stack.scaffold if path.endswith(("App.jsx", "App.tsx")))
    scripts: dict[str, Script] = {"local/vision": writes({entry: component}), "one": lambda: S(["Nothing differs."])}
    async with desk(tmp_path, scripts) as studio:
        brief = BuildRequest(
            text="Keep it calm", views=(view(),), mode="image", stack=stack.name, models=("one",), draft=True
        )
        _, version = await studio.built(brief)
        assert version.variants[0].status == "completed"
        asked = texts_of(studio.asked("one")[0])
        assert asked.count(f'<file path="{entry}">') == 1
        assert component in asked
        assert "Keep it calm" in asked


async def test_a_draft_needs_a_picture(tmp_path: Path) -> None:
    async with desk(tmp_path, {"local/vision": writes(page()), "one": writes(page())}) as studio:
        with pytest.raises(ConfigurationError, match="A draft is made of a picture"):
            await studio.studio.create(OWNER, BuildRequest(text="A page for a bakery", draft=True))


async def test_the_command_asks_for_a_draft_and_names_both_scores(tmp_path: Path) -> None:
    (tmp_path / "shot.png").write_bytes(picture())
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    parser.set_defaults(**{name: key.default for name, key in command_keys("build").items()})
    async with desk(tmp_path, {"local/vision": writes(page()), "one": writes(page())}) as studio:
        options = parser.parse_args([str(tmp_path / "shot.png"), "--draft", "--model", "one"])
        request = await read_request(options, studio.studio)
        assert (request.draft, request.models) == (True, ("one",))
        options = parser.parse_args([str(tmp_path / "shot.png"), "--model", "one"])
        assert not (await read_request(options, studio.studio)).draft
    draft, polished = (
        VariantScore(block=1, text=1, position=1, colour=1, ssim=1, overall=overall) for overall in (0.93, 0.97)
    )
    assert format_score(polished, draft) == "97 % match (draft 93 %)"
