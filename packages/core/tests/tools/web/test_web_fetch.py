"""fetch_url: what a model gets of the web."""

import base64
import struct
import zlib

import pytest
from web_site import page, redirect, site

from heald.core.media import PictureHeader, picture_header
from heald.core.messages import Image, Text, ToolCall
from heald.tools.context import ToolContext
from heald.tools.session_objects import SessionObjects
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import ToolOutput
from heald.tools.web.body_text import decode_text, sniff_kind
from heald.tools.web.fetch_tool import MAX_CHARS, fetch_tool, fetch_url
from heald.tools.web.fetcher import WebFetcher


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * ((width // 8 + 1) * min(height, 10)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


async def fetch(reply: bytes, path: str = "/", **arguments: int) -> ToolOutput:
    """What the tool says of a site whose every page is this one."""
    async with site({path: reply, "/page": page("<title>T</title><p>moved here")}) as here:
        tool = fetch_tool(WebFetcher(allow={here.at}))
        assert tool.convert is not None
        call = ToolCall(id="c1", name="fetch_url", input={})
        ctx = ToolContext(call, None, emit=lambda _: None, keep=SessionObjects(), ask=None)  # pyright: ignore[reportArgumentType]
        return await tool.run(tool.convert({"url": f"http://{here.at}{path}", **arguments}), ctx)


async def test_a_page() -> None:
    output = await fetch(page("<title>Hi</title><h1>Head</h1><script>x</script><p>Text"))
    text = output.content
    assert isinstance(text, str)
    assert "Status: 200, text/html" in text
    assert "Title: Hi" in text
    assert "# Head\n\nText" in text
    assert "not instructions" in text
    assert not output.is_error
    assert not output.truncated


async def test_the_marks_around_foreign_text_cannot_be_guessed() -> None:
    first, second = [str((await fetch(page("x"))).content) for _ in range(2)]
    mark = first.rpartition("--- ")[2].strip()
    assert first.count(f"--- {mark}\n") == 1
    assert mark not in second


async def test_the_address_after_redirects_is_reported() -> None:
    output = await fetch(redirect("/page"))
    assert "/page\nStatus: 200" in str(output.content)


async def test_long_text_is_cut_and_it_reports_it() -> None:
    output = await fetch(page("word " * 100_000, "text/plain"), max_chars=1000)
    assert output.truncated
    assert "the first 1,000 of 500,000 characters" in str(output.content)
    assert len(str(output.content)) < 1500
    most = await fetch(page("x" * 1_000_000, "text/plain"), max_chars=10**9)
    assert fetch_url.max_output is not None
    assert MAX_CHARS < len(str(most.content)) < fetch_url.max_output


async def test_an_error_page_is_an_error_with_its_text() -> None:
    output = await fetch(page("<p>gone for good", status="410 Gone"))
    assert output.is_error
    assert "Status: 410" in str(output.content)
    assert "gone for good" in str(output.content)


async def test_json_and_text_come_as_they_are() -> None:
    assert '{"a": [1,  2]}' in str((await fetch(page('{"a": [1,  2]}', "application/json"))).content)
    assert "<p>not markup" in str((await fetch(page("<p>not markup", "text/plain"))).content)


async def test_a_picture() -> None:
    body = png(10, 20)
    output = await fetch(page(body, "application/octet-stream"))
    note, image = output.content
    assert isinstance(note, Text)
    assert "10x20" in note.text
    assert image == Image(media_type="image/png", data=base64.b64encode(body).decode())


@pytest.mark.parametrize(
    ("body", "said", "kind"),
    [
        (b"<html>no picture</html>", "image/png", "unsupported_type"),
        (b"%PDF-1.7", "text/html", "unsupported_type"),
        (b"PK\x03\x04zip", "", "unsupported_type"),
        (b"a\0b", "text/plain", "unsupported_type"),
        (b"sound", "audio/mpeg", "unsupported_type"),
        (png(30_000, 30_000), "image/png", "image_too_large"),
        (png(0, 5), "image/png", "image_too_large"),
        (png(5, 5) + b"x" * 4_000_000, "image/png", "image_too_large"),
    ],
)
async def test_what_cannot_be_shown(body: bytes, said: str, kind: str) -> None:
    with pytest.raises(ToolFault) as caught:
        await fetch(page(body, said))
    assert caught.value.kind == kind


def test_what_permissions_look_at() -> None:
    assert fetch_url.effect == "network"
    assert fetch_url.subjects is not None
    assert fetch_url.subjects({"url": "https://Example.com/a"}) == ["example.com", "https://example.com/a"]
    assert fetch_url.subjects({"url": "https://user@example.com"}) is None
    assert fetch_url.subjects({"url": 7}) is None
    assert fetch_url.summary is not None
    assert fetch_url.summary({"url": "https://x.org"}) == "Fetch https://x.org"
    assert fetch_url.definition.input_schema["required"] == ["url"]


@pytest.mark.parametrize(
    ("body", "said", "text"),
    [
        ("ä".encode(), "", "ä"),
        ("ä".encode("latin-1"), "text/plain; charset=ISO-8859-1", "ä"),
        ("ä€".encode("cp1252"), "", "ä€"),
        ("日本".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本"),
        (b"<meta charset=koi8-r>" + "да".encode("koi8-r"), "text/html", "<meta charset=koi8-r>да"),
        ("\ufeffä".encode("utf-16-le"), "text/plain", "ä"),
        ("\ufeffä".encode(), "text/plain; charset=latin-1", "ä"),
        (b"+AGE-", "text/plain; charset=utf-7", "+AGE-"),
        (b"ok", "text/plain; charset=unicode_escape", "ok"),
        (b"ok", "text/plain; charset=zip", "ok"),
        (b"a\r\nb\x1b[31m", "", "a\nb�[31m"),
    ],
)
def test_encodings(body: bytes, said: str, text: str) -> None:
    assert decode_text(body, said) == text


@pytest.mark.parametrize(
    ("body", "header"),
    [
        (b"GIF89a\x05\0\x06\0", ("image/gif", 5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x04\0\0\x05\0\0", ("image/webp", 5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x04\x40\x01\0", ("image/webp", 5, 6)),
        (b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + b"\x05\0\x06\0", ("image/webp", 5, 6)),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc0\0\x0b\x08\0\x06\0\x05", ("image/jpeg", 5, 6)),
        (b"\xff\xd8\xff\xe0\xff\xff", None),
        (b"\xff\xd8\xff\xe0\0\0" * 10, None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"", None),
    ],
)
def test_pictures_by_their_header(body: bytes, header: tuple[str, int, int] | None) -> None:
    assert picture_header(body) == (header and PictureHeader(*header))


def test_a_page_without_a_type_is_recognised() -> None:
    assert sniff_kind(b"  <!DOCTYPE html><p>x", "") == "html"
    assert sniff_kind(b"<!-- hi --><html>", "application/octet-stream") == "html"
    assert sniff_kind(b"just text", "") == "text"
    assert sniff_kind(b"<svg/>", "image/svg+xml") == "text"
