"""`save_assets`: pictures from elsewhere become files of the project, and the page shows those."""

import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.tools.web.fetcher import WebFetcher
from heald_studio.tools.save_assets import picture_urls, replace_urls
from studio_tools_support import call, design, finder, png, ran

SMALL = png(Image.new("RGB", (20, 10), (200, 30, 30)))
DATA = f"data:image/png;base64,{base64.b64encode(SMALL).decode()}"


def served(request: ReceivedRequest) -> Reply:
    path = request.path.partition("?")[0]
    bodies = {"/photos/boat.jpg": png(design()), "/small.png": SMALL, "/page.png": b"<html>no picture</html>"}
    if path == "/away.png":
        return Reply([], status=302, headers={"location": "http://127.0.0.1:1/x.png"}, framing="length")
    if path not in bodies:
        return Reply([b"gone"], status=404, framing="length")
    return Reply([bodies[path]], content_type="image/png", framing="length")


async def test_data_addresses_become_files() -> None:
    page = f'<img src="{DATA}"><div style="background:url({DATA})"></div>'
    done = await ran(call("save_assets"), files={"index.html": page})
    assert done.result.status == "ok"
    assert sorted(done.changed) == ["assets/picture.png", "index.html"]
    assert done.workspace.read_text("index.html") == (
        '<img src="assets/picture.png"><div style="background:url(assets/picture.png)"></div>'
    )
    assert done.picture("assets/picture.png").size == (20, 10)
    assert "Changed to the new addresses: index.html." in done.result.text


async def test_pictures_of_the_web_are_fetched_and_every_file_finds_them() -> None:
    async with ScriptedServer(served) as server:
        host = server.url.removeprefix("http://")
        page = (
            f'<img alt="" src="{server.url}/photos/boat.jpg?w=8&amp;h=6"><script src="{server.url}/app.js"></script>'
            f'<img src="{server.url}/gone.png"><a href="{server.url}/photos/">link</a>'
        )
        done = await ran(
            call("save_assets"),
            files={
                "index.html": page,
                "css/style.css": f"a{{background:url('{server.url}/small.png')}}",
                "data.js": f'export const pictures = ["{server.url}/small.png"];',
            },
            outgoing=WebFetcher(allow=[host]),
        )
        asked = [request.path for request in server.requests]
    assert sorted(asked) == ["/gone.png", "/photos/boat.jpg?w=8&h=6", "/small.png"]
    assert 'src="assets/boat.png"' in done.workspace.read_text("index.html")
    assert done.workspace.read_text("css/style.css") == "a{background:url('../assets/small.png')}"
    assert done.workspace.read_text("data.js") == 'export const pictures = ["assets/small.png"];'
    assert f"{server.url}/app.js" in done.workspace.read_text("index.html")
    assert f"{server.url}/gone.png" in done.workspace.read_text("index.html")
    assert "its server answered 404" in done.result.text
    assert done.picture("assets/boat.png").size == (800, 600)


def test_an_address_inside_a_longer_one_is_left_alone() -> None:
    text = "<img src='https://a.test/b.png?v=2'><img src='https://a.test/b.png'>"
    assert replace_urls("index.html", text, {"https://a.test/b.png": "assets/b.png"}) == (
        "<img src='https://a.test/b.png?v=2'><img src='assets/b.png'>"
    )


async def test_nothing_private_is_ever_fetched() -> None:
    async with ScriptedServer(served) as server:
        page = f'<img src="{server.url}/small.png"><img src="http://169.254.169.254/latest/meta-data/a.png">'
        done = await ran(call("save_assets"), files={"index.html": page})
        assert server.requests == []
    assert done.result.status == "error"
    assert done.changed == []
    assert "not on the public internet" in done.result.text


async def test_what_is_no_picture_and_what_leads_away_stays_as_it_is() -> None:
    async with ScriptedServer(served) as server:
        host = server.url.removeprefix("http://")
        urls = [f"{server.url}/page.png", f"{server.url}/away.png", "file:///etc/passwd", "data:image/png;base64,AAAA"]
        done = await ran(call("save_assets", urls=urls), outgoing=WebFetcher(allow=[host]))
    assert done.result.status == "error"
    assert done.changed == []
    assert done.result.text.count("Left as it is:") == 4


async def test_named_addresses_are_saved_without_a_page() -> None:
    done = await ran(call("save_assets", urls=[DATA]), find=finder(stack_name="react_vite"))
    assert done.changed == ["public/assets/picture.png"]
    assert "- /assets/picture.png from data:image/png" in done.result.text


async def test_a_file_that_is_there_is_not_replaced() -> None:
    done = await ran(call("save_assets"), files={"index.html": f"<img src='{DATA}'>", "assets/picture.png": b"mine"})
    assert done.workspace.read("assets/picture.png") == b"mine"
    assert done.workspace.read_text("index.html") == "<img src='assets/picture-2.png'>"


async def test_there_may_be_nothing_to_do() -> None:
    done = await ran(call("save_assets"), files={"index.html": "<img src='assets/a.png'>"})
    assert done.result.text == "The page shows no pictures from elsewhere and carries none in itself."


async def test_an_animation_and_a_huge_picture() -> None:
    out = io.BytesIO()
    frames = [Image.new("P", (8, 8), number) for number in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    gif = f"data:image/gif;base64,{base64.b64encode(out.getvalue()).decode()}"
    huge = bytearray(SMALL)
    huge[16:24] = (30_000).to_bytes(4) + (30_000).to_bytes(4)
    bomb = f"data:image/png;base64,{base64.b64encode(huge).decode()}"
    done = await ran(call("save_assets", urls=[gif, bomb]))
    assert done.changed == ["assets/picture.png"]
    assert "30000 × 30000 pixels" in done.result.text


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ('<img src="https://a.test/b.png">', ["https://a.test/b.png"]),
        ("<img alt='x' src='https://a.test/b'>", ["https://a.test/b"]),
        ('<video poster="https://a.test/p.jpg">', ["https://a.test/p.jpg"]),
        ("a{background:url(https://a.test/b.webp)}", ["https://a.test/b.webp"]),
        ("a{src:url(https://a.test/b.woff2)}", []),
        ("const a = `https://a.test/b.png?x=1`", ["https://a.test/b.png?x=1"]),
        ('<script src="https://a.test/b.js"></script><link href="https://a.test/b.css">', []),
        ('<a href="https://a.test/">', []),
        ("data:image/svg+xml,%3Csvg%3E", []),
    ],
)
def test_what_counts_as_a_picture_that_is_shown(text: str, urls: list[str]) -> None:
    assert picture_urls(text) == urls


@given(st.text(alphabet="<img src=\"'https://a.b/c.png(){}url", max_size=400))
def test_any_text_can_be_looked_through(text: str) -> None:
    for url in picture_urls(text):
        assert url in text
        assert "zz" in replace_urls("a.js", text, {url: "zz"})


def test_looking_is_linear() -> None:
    import time

    started = time.process_time()
    for text in (
        "<img " * 100_000,
        "<img " + "a=1 " * 200_000,
        '"https://' * 80_000,
        "data:image/png;" * 50_000,
        "url(" * 200_000,
    ):
        picture_urls(text)
    assert time.process_time() - started < 20
