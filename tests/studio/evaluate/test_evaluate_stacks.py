"""Every stack of the converter in a real browser with the network cut: no error, and as good as plain HTML."""

from pathlib import Path

import pytest

from needed_programs import needs_chromium
from weft.studio.browser.browser import Browser
from weft.studio.browser.page import Viewport, serve_files
from weft.studio.cdn import MISSING, is_installed
from weft.studio.preview import ProjectPreview
from weft.studio.score.blocks import PageImage
from weft.studio.score.score import score
from weft.studio.stack import find_stack
from weft.vision.arrange.page import arrange
from weft.vision.elements import VisionError
from weft.vision.see.detect import detect_elements
from weft.vision.write.stacks import STACKS, write_files

PAGE = Path(__file__).parents[3] / "benchmarks/pages/tuning/login.html"
LOSS = 0.02
pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not is_installed(), reason=MISSING),
    pytest.mark.skipif(not PAGE.is_file(), reason="the pages are only in a checkout"),
]


async def test_every_stack_looks_like_the_picture(browser: Browser) -> None:
    window = Viewport(1280, 800)
    pictures = {f"pictures/{each.name}": each.read_bytes() for each in PAGE.parents[1].glob("pictures/*.png")}
    page = PAGE.read_text("utf-8").replace("../pictures/", "pictures/")
    target = await browser.render(serve_files({"index.html": page, **pictures}), viewport=window)
    try:
        arranged = arrange(detect_elements(target.picture))
    except VisionError as error:
        pytest.skip(str(error))
    found: dict[str, float] = {}
    for name in STACKS:
        files = {**find_stack(name).scaffold, **write_files(arranged, name)}
        seen = await browser.render(ProjectPreview(find_stack(name), files), viewport=window)
        errors = [line for line in seen.console if line.startswith("error")]
        assert (name, errors, seen.failed) == (name, [], ())
        found[name] = score(PageImage.of(target), PageImage.of(seen)).overall
    assert found["html_css"] > 0.9
    assert {name: figure for name, figure in found.items() if figure < found["html_css"] - LOSS} == {}
