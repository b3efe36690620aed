"""Stacks of the converter in a real browser with the network cut: no error, and as good as plain HTML.

`test_export_offline.py` compares the pages of all stacks with each other."""

import pytest

from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.write.stacks import write_files
from heald_pictures.errors import VisionError
from heald_studio.browser.browser import Browser
from heald_studio.browser.page import Viewport, serve_files
from heald_studio.cdn.packages import MISSING, is_installed
from heald_studio.preview.preview import ProjectPreview
from heald_studio.score.page_image import PageImage
from heald_studio.score.score import score
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium
from repository import ROOT

PAGE = ROOT / "benchmarks/pages/tuning/login.html"
LOSS = 0.02
SCORED = ("html_css", "svg", "react_tailwind", "svelte_vite", "ionic_tailwind")
"""A stack of each kind: plain, a drawing, compiled in the page, a project, other components."""
pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not is_installed(), reason=MISSING),
    pytest.mark.skipif(not PAGE.is_file(), reason="the pages are only in a checkout"),
]


async def test_a_stack_of_each_kind_looks_like_the_picture(browser: Browser) -> None:
    window = Viewport(1280, 800)
    pictures = {f"pictures/{picture.name}": picture.read_bytes() for picture in PAGE.parents[1].glob("pictures/*.png")}
    page = PAGE.read_text("utf-8").replace("../pictures/", "pictures/")
    target = await browser.render(serve_files({"index.html": page, **pictures}), viewport=window)
    try:
        arranged = arrange(detect_elements(target.picture))
    except VisionError as error:
        pytest.skip(str(error))
    scores: dict[str, float] = {}
    for name in SCORED:
        files = {**find_stack(name).scaffold, **write_files(arranged, name)}
        seen = await browser.render(ProjectPreview(find_stack(name), files), viewport=window)
        errors = [line for line in seen.console if line.startswith("error")]
        assert (name, errors, seen.failed) == (name, [], ())
        scores[name] = score(PageImage.of(target), PageImage.of(seen)).overall
    assert scores["html_css"] > 0.9
    assert {name: figure for name, figure in scores.items() if figure < scores["html_css"] - LOSS} == {}
