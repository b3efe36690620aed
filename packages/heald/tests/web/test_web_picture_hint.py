"""What the converter is told about a picture: its kind and its scale, chosen beside the models."""

import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from page_support import BUILT, ROOT, Visit, visiting
from playwright.async_api import Browser, Route, expect

from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald_local.model import available
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from serving_parts import TOKEN, serving


@pytest_asyncio.fixture(loop_scope="session")
async def visit(tmp_path: Path, chrome: Browser) -> AsyncGenerator[Visit]:
    if not BUILT.is_file():
        pytest.skip("the page is not built; run `npm ci && npm run build` in web/")
    if not available():
        pytest.skip("the local converter is not installed; install heald[local]")
    page = os.environ.get("HEALD_PAGE", "")
    context = ServerContext(
        Sessions(SqliteStore(tmp_path / "s.db", durable=False)),
        KnownModels(),
        settings=ServerSettings(port=0),
        tokens=AccessTokens({TOKEN: ""}),
        protocol_options={"studio": {"scores": False}} | ({"native": {"page": page}} if page else {}),
    )
    async with serving(context) as served, visiting(chrome, f"{served.url}/#token={TOKEN}") as visit:
        yield visit
    assert not visit.problems, visit.problems


async def test_the_converter_is_told_what_a_picture_is(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    prompts: list[dict[str, Any]] = []

    async def answer(route: Route) -> None:
        if route.request.method != "POST":
            await route.continue_()
            return
        body: Any = route.request.post_data_json
        prompts.append(body["prompt"])
        await route.fulfill(status=503, json={"error": {"code": "unavailable", "message": "Not now."}})

    await page.route("**/projects", answer)
    visit.expected.append("503")
    await expect(page.get_by_label("Kind of picture")).to_have_count(0)
    await page.locator("input[type=file]").set_input_files(ROOT / "examples" / "shot.png")
    await page.get_by_label("Kind of picture").select_option("Sketch")
    await page.get_by_label("Scale of the picture").select_option("Scale: 2× (Retina)")
    assert await visit.axe() == []
    await page.screenshot(path=tmp_path / "hint.png")
    await page.emulate_media(color_scheme="dark")
    await page.set_viewport_size({"width": 390, "height": 844})
    assert await visit.axe() == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await page.screenshot(path=tmp_path / "hint-phone.png")
    build = page.get_by_role("button", name="Build", exact=True)
    await build.click()
    await expect(page.get_by_text("Not now.")).to_be_visible()
    await page.get_by_label("Kind of picture").select_option("Kind: automatic")
    await page.get_by_label("Scale of the picture").select_option("Scale: automatic")
    await build.click()
    await expect(page.get_by_text("Not now.").nth(1)).to_be_visible()
    named, unnamed = (prompt["images"][0] for prompt in prompts)
    assert (named["kind"], named["scale"]) == ("sketch", 2)
    assert not {"kind", "scale"} & unnamed.keys()
