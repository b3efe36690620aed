"""`screenshot_preview` and `compare_with_target`: the page in a real browser."""

from collections.abc import Iterator

import pytest

from heald_local.see.models import available
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import DESKTOP
from heald_studio.preview.preview import ProjectPreview
from heald_studio.stacks.installed import find_stack
from needed_programs import needs_chromium
from studio_tools_support import PAGE, call, finder, pictures_in, ran


@pytest.fixture(scope="module", autouse=True)
def browser() -> Iterator[None]:
    yield
    shared_browser().close()


async def shot(page: str = PAGE) -> bytes:
    preview = ProjectPreview(find_stack("html_css"), {"index.html": page})
    return (await shared_browser().render(preview, "index.html", DESKTOP)).picture


@needs_chromium
async def test_both_pictures_come_with_what_is_wrong() -> None:
    page = PAGE.replace("</body>", '<img src="gone.png"><script>console.error("it broke")</script></body>')
    page = page.replace("width:200px", "min-width:600px")
    done = await ran(call("screenshot_preview"), files={"index.html": page})
    result = done.result
    assert result.status == "ok"
    desktop, mobile = pictures_in(result)
    assert (desktop.width, mobile.width) == (1280, 375)
    assert "Desktop, 1280 px wide" in result.text
    assert "it broke" in result.text
    assert "gone.png" in result.text
    assert "px wider than the window" in result.text
    assert "mobile: 1 error" in result.summary


@needs_chromium
async def test_one_device_and_another_page() -> None:
    files = {"index.html": PAGE, "about.html": PAGE.replace("Harbour Lights", "About us").replace("Harbour<", "About<")}
    done = await ran(
        call("screenshot_preview", path="about.html", devices=["mobile"]),
        call("screenshot_preview", path="gone.html"),
        call("screenshot_preview", path="../index.html"),
        files=files,
    )
    about, missing, outside = done.results
    assert [picture.width for picture in pictures_in(about)] == [375]
    assert "titled “About”" in about.text
    assert "no faults" in about.summary
    assert missing.text.startswith("not_found: There is no page gone.html")
    assert outside.text.startswith("path_outside_workspace")


@needs_chromium
async def test_a_tall_page_is_shown_in_part_and_fits_an_event() -> None:
    noise = "".join(f'<p style="background:hsl({i * 37 % 360} 60% 60%)">Line {i} of many</p>' for i in range(400))
    done = await ran(call("screenshot_preview"), files={"index.html": PAGE.replace("</body>", f"{noise}</body>")})
    desktop, _ = pictures_in(done.result)
    assert "The picture here shows the first 4000 px of it." in done.result.text
    assert desktop.height <= 4000


async def test_a_page_that_is_not_written_yet() -> None:
    done = await ran(call("screenshot_preview"), call("compare_with_target"), files={"style.css": "a{}"})
    first, second = done.results
    assert first.text == "not_found: There is nothing to look at yet: index.html is not written."
    assert second.text == "No picture was given for this design, so there is nothing to look at or compare with."


async def test_without_a_browser_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEALD_CHROMIUM", "no-such-browser")
    done = await ran(
        call("screenshot_preview"), call("create_file", path="a.txt", content="still works"), files={"index.html": PAGE}
    )
    looked, wrote = done.results
    assert (looked.status, wrote.status) == ("error", "ok")
    assert looked.text == "HEALD_CHROMIUM names no program that can be run; set it to Chromium's path."


@needs_chromium
async def test_a_look_waits_for_the_file_that_is_written_before_it() -> None:
    done = await ran(
        call("create_file", path="index.html", content=PAGE), call("screenshot_preview", devices=["desktop"])
    )
    assert done.results[1].status == "ok"
    assert "titled “Harbour”" in done.results[1].text


# --- compare_with_target ---------------------------------------------------------------------------------------------


@needs_chromium
async def test_the_page_itself_scores_one_and_a_changed_one_less() -> None:
    if not available():
        pytest.skip("reading text from a picture needs heald[local]")
    find = finder([await shot()])
    same = await ran(call("compare_with_target"), files={"index.html": PAGE}, find=find)
    assert float(same.result.summary.removeprefix("score ")) > 0.97
    other = PAGE.replace("Breakfast until eleven", "Dinner").replace("#143c6e", "#8e1c1c")
    changed = await ran(call("compare_with_target"), files={"index.html": other}, find=find)
    result = changed.result
    assert float(result.summary.removeprefix("score ")) < float(same.result.summary.removeprefix("score ")) - 0.02
    assert "“Breakfast until eleven”" in result.text
    assert "(x, y, width, height)" in result.text
    (heat,) = pictures_in(result)
    red = heat.convert("RGB").getpixel((heat.width // 2, 20 * heat.height // 800))
    assert isinstance(red, tuple)
    assert red[0] > red[1] + 40


async def test_there_are_only_so_many_targets() -> None:
    done = await ran(call("compare_with_target", target=2), call("compare_with_target", target=0), find=finder([b"x"]))
    assert done.results[0].text == "There is only 1 picture; 2 is none of them."
    assert done.results[1].status == "invalid_input"


@needs_chromium
async def test_a_broken_target_is_one_sentence() -> None:
    done = await ran(call("compare_with_target"), files={"index.html": PAGE}, find=finder([b"no picture"]))
    assert done.result.status == "error"
    assert "not a picture that can be read" in done.result.text
