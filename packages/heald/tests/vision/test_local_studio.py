"""The converter in the studio, with its real tools: two variants of one picture, then a change by hand of words."""

from pathlib import Path

from heald.sessions.sessions import Sessions
from heald.sessions.sqlite import SqliteStore
from heald.sessions.store import iterate_events
from heald_check import check_log
from heald_server.access.tokens import AccessTokens
from heald_server.context import ServerContext
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings
from heald_studio.input.pictures import read_picture
from heald_studio.projects.project import VariantRef, Version
from heald_studio.prompt.request import ChosenElement
from heald_studio.request import BuildRequest, View
from heald_studio.server.host import open_studio
from local_support import TEXTS, needs_vision, page
from needed_programs import needs_chromium

pytestmark = needs_vision


@needs_chromium
async def test_a_project_is_built_compared_and_changed_without_a_key(tmp_path: Path) -> None:
    context = ServerContext(
        Sessions(SqliteStore(tmp_path / "studio.db", durable=False)),
        KnownModels(),
        settings=ServerSettings(port=0, goodbye_seconds=0.0),
        tokens=AccessTokens({"a-token-of-the-studio": "ann"}),
    )
    studio = open_studio(context, scores=False)
    await context.start()

    async def proven(version: Version) -> None:
        for variant in version.variants:
            assert variant.status == "completed", variant.error
            assert not check_log([event async for event in iterate_events(context.sessions.store, variant.session)])

    try:
        brief = BuildRequest(mode="image", views=(View(read_picture(page())),), stack="html_tailwind", variants=2)
        project = await studio.create("ann", brief)
        version = await studio.wait_version("ann", project.id, project.versions[0].id)
        assert [variant.model for variant in version.variants] == ["local/vision", "local/vision-responsive"]
        await proven(version)
        base = VariantRef(version.id, 0)
        files = await studio.files("ann", project.id, base)
        html = files["index.html"].decode()
        assert "cdn.tailwindcss.com" in html
        assert all(text in html for text in TEXTS)
        assert any(path.startswith("assets/") and path.endswith(".png") and path in html for path in files)
        start = html.index("<h1")
        chosen = ChosenElement(html=html[start : html.index("</h1>") + 5])
        change = BuildRequest(text="make it red", element=chosen, stack="html_tailwind", variants=1)
        changed = await studio.update("ann", project.id, base, change)
        changed = await studio.wait_version("ann", project.id, changed.id)
        await proven(changed)
        after = (await studio.files("ann", project.id, VariantRef(changed.id, 0)))["index.html"].decode()
        assert after.replace(' style="color: red"', "") == html
        assert after != html
    finally:
        await studio.close()
        await context.stop()
