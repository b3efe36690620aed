"""The converter in the studio, with its real tools: two variants of one picture, then a change by hand of words."""

from pathlib import Path

import pytest
from local_support import TEXTS, needs_vision, page

from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.settings import ServerSettings
from weft.server.studio.host import open_studio
from weft.server.tokens import Tokens
from weft.sessions.sessions import Sessions
from weft.sessions.sqlite import SqliteStore
from weft.sessions.store import events_of
from weft.studio.brief import Brief, View
from weft.studio.browser.chromium import find_chromium
from weft.studio.browser.rendering import BrowserError
from weft.studio.input.pictures import read_picture
from weft.studio.projects.project import Base, Version
from weft.studio.prompts.request import Element
from weft.testing import check_log

pytestmark = needs_vision


def has_browser() -> bool:
    try:
        find_chromium()
    except BrowserError:
        return False
    return True


@pytest.mark.skipif(not has_browser(), reason="Chromium is not installed")
async def test_a_project_is_built_compared_and_changed_without_a_key(tmp_path: Path) -> None:
    context = ServerContext(
        Sessions(SqliteStore(tmp_path / "studio.db", durable=False)),
        KnownModels(),
        settings=ServerSettings(port=0, goodbye_seconds=0.0),
        tokens=Tokens({"a-token-of-the-studio": "ann"}),
    )
    studio = open_studio(context, scores=False)
    await context.start()

    async def proven(version: Version) -> None:
        for variant in version.variants:
            assert variant.status == "completed", variant.error
            assert not check_log([event async for event in events_of(context.sessions.store, variant.session)])

    try:
        brief = Brief(mode="image", views=(View(read_picture(page())),), stack="html_tailwind", variants=2)
        project = await studio.create("ann", brief)
        version = await studio.finished("ann", project.id, project.versions[0].id)
        assert [variant.model for variant in version.variants] == ["local/vision", "local/vision-responsive"]
        await proven(version)
        base = Base(version.id, 0)
        files = await studio.files("ann", project.id, base)
        html = files["index.html"].decode()
        assert "cdn.tailwindcss.com" in html
        assert all(text in html for text in TEXTS)
        assert any(path.startswith("assets/") and path.endswith(".png") and path in html for path in files)
        start = html.index("<h1")
        chosen = Element(html=html[start : html.index("</h1>") + 5])
        change = Brief(text="make it red", element=chosen, stack="html_tailwind", variants=1)
        changed = await studio.update("ann", project.id, base, change)
        changed = await studio.finished("ann", project.id, changed.id)
        await proven(changed)
        after = (await studio.files("ann", project.id, Base(changed.id, 0)))["index.html"].decode()
        assert after.replace(' style="color: red"', "") == html
        assert after != html
    finally:
        await studio.close()
        await context.stop()
