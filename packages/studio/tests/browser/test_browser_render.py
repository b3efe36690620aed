"""What a rendering holds: the picture, the text, the complaints, the same every time."""

import asyncio
import base64
from collections.abc import Awaitable
from io import BytesIO

import pytest
from PIL import Image

from heald_studio.browser.browser import Browser
from heald_studio.browser.page import MOBILE, BrowserError, PageResponse, Rendering, TextBlock, Viewport, serve_files
from needed_programs import needs_chromium

pytestmark = needs_chromium

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


async def render(browser: Browser, page: str, **options: object) -> Rendering:
    return await browser.render(serve_files({"index.html": page, "dot.png": DOT}), **options)  # type: ignore[arg-type]


def opened(rendering: Rendering) -> Image.Image:
    return Image.open(BytesIO(rendering.picture)).convert("RGB")


def lines(rendering: Rendering) -> list[str]:
    return [text.text for text in rendering.texts]


async def test_a_short_page_from_right_to_left_stands_where_its_text_is_said_to_be(browser: Browser) -> None:
    page = """<!doctype html><html dir=rtl><style>body{margin:0}div{height:40px;width:100px;background:#1d4ed8}</style>
    <div></div><p>x</p>"""
    for _ in range(2):
        seen = opened(await render(browser, page))
        assert [seen.getpixel((x, 20)) for x in (1170, 1190, 1270)] == [(255, 255, 255), *[(0x1D, 0x4E, 0xD8)] * 2]


async def test_a_picture_of_the_whole_page(browser: Browser) -> None:
    page = """<!doctype html><title>Tall</title><style>body{margin:0;background:#102030}div{height:1000px}</style>
    <div></div><div style="background:#ff0000"></div>"""
    whole = await render(browser, page)
    assert whole.size == opened(whole).size == (1280, 2000)
    assert whole.title == "Tall"
    assert opened(whole).getpixel((10, 10)) == (0x10, 0x20, 0x30)
    assert opened(whole).getpixel((1270, 1990)) == (255, 0, 0)
    window = await render(browser, page, full_page=False)
    assert window.size == opened(window).size == (1280, 800)


async def test_a_short_page_fills_the_window(browser: Browser) -> None:
    assert (await render(browser, "<p>short")).size == (1280, 800)


async def test_the_same_page_gives_the_same_picture(browser: Browser) -> None:
    page = """<!doctype html><style>@keyframes m{from{left:0;opacity:0}to{left:300px;opacity:1}}
    @keyframes spin{to{transform:rotate(360deg)}} i{display:block;width:80px;height:40px;background:#393}
    p{position:absolute;animation:m 30s both} i{animation:spin .7s infinite linear} b{transition:all 9s}</style>
    <p>moves</p><i></i><b>late</b><input autofocus value=caret><script>setTimeout(() => {
    document.querySelector("b").style.color = "red" }, 10)</script>"""
    first, second = await render(browser, page), await render(browser, page)
    assert first.picture == second.picture
    assert first.texts == second.texts
    moved = next(text for text in first.texts if text.text == "moves")
    assert moved.x == pytest.approx(300), "an animation that ends is shown at its end"


async def test_lines_of_text_with_their_places_and_colours(browser: Browser) -> None:
    page = """<!doctype html><style>body{margin:0;font:16px/20px monospace}p{margin:0;width:12ch}
    h1{margin:0;font:700 20px/30px monospace;color:oklch(0.628 0.2577 29.23);text-transform:uppercase}</style>
    <h1>Loud</h1><p>one two <a style="color:#00f" href=#>three</a> four five</p>
    <nav><span>A</span> <span>B</span></nav>"""
    rendering = await render(browser, page)
    assert lines(rendering) == ["LOUD", "one two", "three four", "five", "A B"]
    loud, first, second, third, _ = rendering.texts
    assert loud.colour is not None
    assert loud.colour[0] > 240
    assert loud.colour[1] < 10
    assert first.x == second.x == 0
    assert 30 <= first.y < 50 <= second.y < 70 <= third.y
    assert second.colour == (0, 0, 255), "the colour of the longer piece"


async def test_text_that_nobody_sees_is_left_out(browser: Browser) -> None:
    page = """<!doctype html><style>.sr{position:absolute;width:1px;height:1px;overflow:hidden}
    .cut{width:100px;overflow:hidden;white-space:nowrap}</style><p>seen</p><p hidden>no</p><p style="opacity:0">no</p>
    <p style="visibility:hidden">no</p><p class=sr>no</p><template>no</template><noscript>no</noscript>
    <details><summary>more</summary>no</details><select><option>chosen<option>no</select><script>"no"</script>
    <p style="position:absolute;left:-999px">no</p><p class=cut>a text that is longer than its box by far</p>"""
    visible = lines(await render(browser, page))
    assert visible[:3] == ["seen", "more", "chosen"]
    assert len(visible) == 4
    assert visible[3].startswith("a text")
    assert "far" not in visible[3]


async def test_text_of_controls_and_of_components(browser: Browser) -> None:
    page = """<!doctype html><input placeholder="Your name"><input value="typed"><input type=password value=secret>
    <textarea>two
rows</textarea><input type=submit value=Send><x-card>slotted</x-card>
    <svg width=99 height=20><text y=15 fill=#f00>drawn</text></svg>
    <script>customElements.define("x-card", class extends HTMLElement { connectedCallback() {
    this.attachShadow({mode: "open"}).innerHTML = "<b>inside</b><slot></slot>" }})</script>"""
    rendering = await render(browser, page)
    assert set(lines(rendering)) >= {"Your name", "typed", "two", "rows", "Send", "drawn"}
    assert "secret" not in str(lines(rendering))
    assert "inside" in "".join(lines(rendering))
    assert "slotted" in "".join(lines(rendering))
    assert next(text.colour for text in rendering.texts if text.text == "drawn") == (255, 0, 0)


async def test_scripts_of_other_scripts(browser: Browser) -> None:
    """Right to left, and lines that break between any two letters."""
    page = """<!doctype html><meta charset=utf-8><p dir=rtl style="width:300px">שלום <b>עולם</b> טוב</p>
    <p style="width:90px;font-size:20px">春天的花园里有很多人</p>"""
    visible = lines(await render(browser, page))
    assert visible[0] == "שלום עולם טוב"
    assert "".join(visible[1:]) == "春天的花园里有很多人"
    assert len(visible) > 2


async def test_complaints_and_failed_requests(browser: Browser) -> None:
    page = """<!doctype html><link rel=stylesheet href=gone.css?v=2><img src=dot.png><img src=sub/none.png>
    <img src="https://cdn.example/logo.png?key=secret"><script>console.warn("careful", 1); console.log("quiet");
    console.error(new Error("broken"));</script><script>missing()</script>
    <script>Promise.reject(new Error("late"))</script>"""
    rendering = await render(browser, page)
    assert set(rendering.failed) == {"gone.css", "sub/none.png", "https://cdn.example/logo.png"}
    assert "warning: careful 1" in rendering.console
    assert any(line.startswith("error: Error: broken") for line in rendering.console)
    assert any("missing is not defined (index.html:3)" in line for line in rendering.console)
    assert any("late" in line for line in rendering.console)
    assert not any("quiet" in line for line in rendering.console)


async def test_a_clean_page_has_no_complaints(browser: Browser) -> None:
    rendering = await render(browser, "<!doctype html><title>t</title><img src=dot.png alt=dot><p>fine")
    assert (rendering.console, rendering.failed, rendering.notes, rendering.overflow) == ((), (), (), 0)


async def test_overflow_and_the_mobile_width(browser: Browser) -> None:
    head = "<!doctype html><meta name=viewport content='width=device-width'><style>body{margin:0}</style>"
    page = head + "<p style='width:600px'>wide</p>"
    assert (await render(browser, page)).overflow == 0
    small = await render(browser, page, viewport=MOBILE, mobile=True)
    assert small.overflow == 225
    assert small.size[0] == 375


async def test_a_sharper_picture(browser: Browser) -> None:
    page = "<!doctype html><style>body{margin:0}</style><p style='margin:0'>text"
    plain, sharp = await render(browser, page), await render(browser, page, viewport=Viewport(1280, 800, 2))
    assert sharp.size == opened(sharp).size == (2560, 1600)
    assert sharp.texts[0].w == pytest.approx(2 * plain.texts[0].w, rel=0.05)


async def test_it_waits_for_what_comes_late(browser: Browser) -> None:
    page = """<!doctype html><body><div id=root></div><img loading=lazy style="margin-top:5000px" src=late.png>
    <script type=module>
    const data = await (await fetch("data.json")).json(); root.textContent = data.word;</script>
    <script>new IntersectionObserver((e) => e[0].isIntersecting && (e[0].target.alt = "seen"))
    .observe(document.querySelector("img"))</script>"""

    async def serve(url: str) -> PageResponse | None:
        name = url.rpartition("/")[2]
        if name in ("data.json", "late.png"):
            await asyncio.sleep(0.3)
        content = {"index.html": page.encode(), "data.json": b'{"word": "arrived"}', "late.png": DOT}.get(name)
        kinds = {"index.html": "text/html", "data.json": "application/json", "late.png": "image/png"}
        return PageResponse(200, kinds[name], content) if content is not None else None

    rendering = await browser.render(serve, quiet_seconds=0.5)
    assert lines(rendering) == ["arrived"]
    assert rendering.failed == ()


async def test_it_waits_for_modules_that_a_script_loads_one_by_one(browser: Browser) -> None:
    page = "<!doctype html><body><script>onload = () => import('./a.js')</script>"
    files = serve_files({"index.html": page, "a.js": "import('./b.js')", "b.js": "document.body.append('Loaded')"})

    async def serve(url: str) -> PageResponse | None:
        if url.endswith(".js"):
            await asyncio.sleep(0.3)  # longer than a page has to be quiet
        response = files(url)
        assert not isinstance(response, Awaitable)
        return response

    assert lines(await browser.render(serve)) == ["Loaded"]


async def test_pages_beside_the_first(browser: Browser) -> None:
    files = {"about/index.html": "<body>about <script>document.body.append(location.pathname)</script>"}
    rendering = await browser.render(serve_files(files), "about/")
    assert lines(rendering) == ["about /about/"]


async def test_a_page_that_is_not_there(browser: Browser) -> None:
    with pytest.raises(BrowserError, match=r"The page nowhere.html is not in the project; check its path\."):
        await browser.render(serve_files({}), "nowhere.html")


async def test_a_viewport_that_makes_no_sense(browser: Browser) -> None:
    with pytest.raises(BrowserError, match="16 to 8192"):
        await render(browser, "", viewport=Viewport(0, 0))


async def test_a_page_that_redefines_everything(browser: Browser) -> None:
    page = """<body><p>honest</p><script>Array.prototype.push = Map.prototype.get = () => 0;
    window.getComputedStyle = () => ({});
    Range.prototype.getClientRects = () => []; window.Promise = null; JSON.stringify = () => "{}";
    Object.defineProperty(document, "images", {get() { throw 1 }});</script>"""
    assert lines(await render(browser, page)) == ["honest"]


async def test_a_serve_that_fails_is_the_caller_s_to_know(browser: Browser) -> None:
    def serve(url: str) -> PageResponse | None:
        raise KeyError(url)

    with pytest.raises(KeyError):
        await browser.render(serve)
    assert lines(await render(browser, "<p>next")) == ["next"]


async def test_many_at_once(browser: Browser) -> None:
    """Each asked from the same loop, each with its own files, no more than two in the browser at a time."""
    now = most = 0

    def page(number: int) -> object:
        async def serve(url: str) -> PageResponse | None:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.05)
            now -= 1
            return PageResponse(200, "text/html", f"<p>number {number}".encode()) if url.endswith("html") else None

        return serve

    renderings = await asyncio.gather(*(browser.render(page(number)) for number in range(5)))  # type: ignore[arg-type]
    assert [lines(rendering) for rendering in renderings] == [[f"number {number}"] for number in range(5)]
    assert most <= 2


def test_blocks_are_plain_data() -> None:
    assert TextBlock("a", 1, 2, 3, 4, (1, 2, 3)) == TextBlock("a", 1, 2, 3, 4, (1, 2, 3))
