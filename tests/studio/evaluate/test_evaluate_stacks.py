"""Every stack of the converter in a real browser with the network cut: no error, and as good as plain HTML."""

from pathlib import Path

import pytest
from evaluate_support import needs_chromium

from weft.studio.browser import Browser, Viewport, serve_files
from weft.studio.libraries.packages import MISSING, installed
from weft.studio.score import Picture, score
from weft.studio.stacks.preview import Preview
from weft.studio.stacks.stack import stack
from weft.vision import STACKS, VisionError, arrange, see, write

PAGE = Path(__file__).parents[3] / "benchmarks/pages/tuning/login.html"
LOSS = 0.02
pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not installed(), reason=MISSING),
    pytest.mark.skipif(not PAGE.is_file(), reason="the pages are only in a checkout"),
]


async def test_every_stack_looks_like_the_picture(browser: Browser) -> None:
    window = Viewport(1280, 800)
    pictures = {f"pictures/{each.name}": each.read_bytes() for each in PAGE.parents[1].glob("pictures/*.png")}
    page = PAGE.read_text("utf-8").replace("../pictures/", "pictures/")
    target = await browser.render(serve_files({"index.html": page, **pictures}), viewport=window)
    try:
        arranged = arrange(see(target.picture))
    except VisionError as error:
        pytest.skip(str(error))
    found: dict[str, float] = {}
    for name in STACKS:
        files = write(arranged, name)
        seen = await browser.render(Preview(stack(name), files), viewport=window)
        errors = [line for line in seen.console if line.startswith("error")]
        assert (name, errors, seen.failed) == (name, [], ())
        found[name] = score(Picture.of(target), Picture.of(seen)).overall
    assert found["html_css"] > 0.9
    assert {name: figure for name, figure in found.items() if figure < found["html_css"] - LOSS} == {}
