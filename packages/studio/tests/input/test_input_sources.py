"""Where inputs come from: each source within its limits, each error one sentence."""

import base64
import contextlib
import os
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from input_pictures import picture

from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.input.load import decode_data_url, load_bytes, load_picture
from heald_studio.prompt.design_system import parse_design_system, read_design_system

PNG = picture()


def url_of(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


async def test_bytes_a_file_and_a_data_url_are_the_same_picture(tmp_path: Path) -> None:
    file = tmp_path / "shot.txt"
    file.write_bytes(PNG)
    sources = [PNG, file, url_of(PNG), url_of(PNG, "text/html"), url_of(PNG).replace("+", "%2B")]
    pictures = [await load_picture(source) for source in sources]
    assert len({loaded.data for loaded in pictures}) == 1


async def test_an_error_states_which_picture_is_meant(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"^Picture 2 is not a picture"):
        await load_picture(b"no", name="Picture 2")
    with pytest.raises(BadInput, match=r"^The picture \(none\.png\) cannot be read: No such file") as caught:
        await load_picture(tmp_path / "none.png")
    assert str(tmp_path) not in str(caught.value)
    with pytest.raises(BadInput, match="neither a data: URL nor"):
        await load_picture("ftp://example.com/x.png")


async def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(BadInput, match="is not a regular file"):
            await load_picture(path)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("data:image/png;base64,!!!!", "base64 text is damaged"),
        ("data:image/png;base64,aGVsbG8", "base64 text is damaged"),
        ("data:image/svg+xml;base64,PHN2Zy8+", "is an SVG drawing"),
        ("data:IMAGE/SVG+XML,<svg/>", "is an SVG drawing"),
        ("data:image/png", "not a data: URL"),
        ("data:" + "x" * 200 + ",", "not a data: URL"),
        ("data:image/png;base64,é", "base64 text is damaged"),
    ],
)
async def test_a_wrong_data_url(url: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        await load_picture(url)


def test_the_length_is_looked_at_before_decoding() -> None:
    with pytest.raises(BadInput, match="at most 1,000 are read"):
        decode_data_url("data:image/png;base64," + "!" * 2_000, limit=1_000)
    assert decode_data_url("data:,a%20b", limit=10) == b"a b"


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_come_through_a_data_url(data: bytes) -> None:
    assert decode_data_url(url_of(data), limit=200) == data


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_data_url_breaks_it(text: str) -> None:
    for url in (f"data:{text}", f"data:image/png;base64,{text}", f"data:,{text}"):
        with contextlib.suppress(BadInput):
            assert len(decode_data_url(url, limit=100)) <= 400


async def test_an_address_is_fetched_within_the_rules() -> None:
    async def shot(request: web.Request) -> web.Response:
        return web.Response(body=PNG, content_type="text/html")

    async def moved(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://169.254.169.254/latest/")

    application = web.Application()
    application.add_routes([web.get("/shot", shot), web.get("/moved", moved)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host = f"127.0.0.1:{runner.addresses[0][1]}"
    try:
        allowed = WebFetcher(allow=[host])
        assert (await load_picture(f"http://{host}/shot", outgoing=allowed)).width == 40
        with pytest.raises(BadInput, match="its server answered 404"):
            await load_picture(f"http://{host}/none", outgoing=allowed)
        for url, outgoing in ((f"http://{host}/shot", None), (f"http://{host}/moved", allowed)):
            with pytest.raises(BadInput, match="not on the public internet") as caught:
                await load_picture(url, outgoing=outgoing)
            assert caught.value.kind == "url_not_allowed"
        with pytest.raises(BadInput, match="cannot be fetched"):
            await load_bytes(f"http://{host}/shot", limit=100, outgoing=WebFetcher(allow=[host], max_bytes=20))
    finally:
        await runner.cleanup()


def test_a_design_system_is_named_by_its_heading(tmp_path: Path) -> None:
    file = tmp_path / "fjord.md"
    file.write_text("\n# Fjord  design\n\nPrimary: #0a3d62\n")
    system = read_design_system(file)
    assert (system.name, system.text) == ("Fjord design", "# Fjord  design\n\nPrimary: #0a3d62")
    assert parse_design_system("x", "Mine").name == "Mine"
    with pytest.raises(BadInput, match="at most 60,000 go into a prompt"):
        parse_design_system("x" * 60_001)
    (tmp_path / "bad").write_bytes(b"\xff")
    with pytest.raises(BadInput, match="not UTF-8"):
        read_design_system(tmp_path / "bad")
    with pytest.raises(BadInput, match="cannot be read"):
        read_design_system(tmp_path / "none")
