"""The finished projects of the gallery: each shows without an error, on a desktop and on a phone."""

import io

import pytest
from PIL import Image

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import DESKTOP, MOBILE
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.gallery.finished_project import NAMES, find_finished, list_finished
from heald_studio.preview.preview import PAGE, ProjectPreview, has_page
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium


def test_every_project_has_a_page_and_a_thumbnail() -> None:
    assert tuple(project.name for project in list_finished()) == NAMES
    for project in list_finished():
        assert has_page(project.files(), find_stack(project.stack).entry)
        thumbnail = Image.open(io.BytesIO(project.thumbnail()))
        assert (thumbnail.format, thumbnail.size) == ("WEBP", (480, 300))
        assert project.title
        assert project.description.endswith(".")
    assert find_finished("../bakery") is None


@needs_chromium
@pytest.mark.skipif(not is_installed(), reason=MISSING)
@pytest.mark.parametrize("name", NAMES)
async def test_it_is_silent_in_the_console_and_fits_a_phone(browser: Browser, name: str) -> None:
    project = find_finished(name)
    assert project is not None
    preview = ProjectPreview(find_stack(project.stack), project.files())
    for viewport in (DESKTOP, MOBILE):
        seen = await browser.render(preview, PAGE, viewport, mobile=viewport is MOBILE, quiet_seconds=0.5)
        assert (seen.console, seen.failed, seen.overflow) == ((), (), 0), viewport
