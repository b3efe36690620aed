"""The design of a page on the web, and how far a page keeps to a design."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from heald.tools.web.fetcher import WebFetcher
from heald_studio.bad_input import BadInput
from heald_studio.design.adherence import score_design
from heald_studio.design.design_text import read_design
from heald_studio.design.web_page import read_web_page
from heald_studio.stacks.installed import find_stack

PAGES = {
    "/": (
        "text/html",
        '<link rel="stylesheet" href="/site.css"><link rel="stylesheet" href="http://10.0.0.1/private.css">'
        "<style>h1 { font: 1em x; font-size: 40px }</style><p style='color: #00aa00'>x</p>",
    ),
    "/site.css": ("text/css", "@import '/more.css'; :root { --brand: #123456; --a: 1px } p { padding: 8px 12px }"),
    "/cascade/": (
        "text/html",
        '<base href="/css/"><link rel="stylesheet" href="vendor.css"><link rel="stylesheet" href="house.css">'
        '<link rel="stylesheet" media="print" href="print.css"><link rel="stylesheet" href="missing.css">'
        '<link rel="alternate stylesheet" href="print.css">'
        '<link rel="stylesheet" media="(min-width: 9em)" href="w.css">',
    ),
    "/css/vendor.css": ("text/css", ":root { --brand: #0000ff; --brand-rgb: 0,0,255; --ink: #111111 }"),
    "/css/house.css": (
        "text/css",
        '/* @import "print.css"; */ @import url("type.css") screen; @import "dark.css" (prefers-color-scheme: dark);'
        ":where(:root) { --brand: #c2410c; --paper: light-dark(#fff, #000) } @media print { :root { --ink: #010203 } }",
    ),
    "/css/type.css": (
        "text/css",
        '@font-face { font-family: Odd } :root { --brand: #00ff00 } h1 { font: 700 2rem/1.1 "Söhne", serif }',
    ),
    "/css/dark.css": ("text/css", ":root { --ink: #eeeeee } p { border-radius: 3px }"),
    "/css/w.css": ("text/css", ":root { --brand: #999999 }"),
    "/css/print.css": ("text/css", ":root { --brand: #333333 } p { font-size: 11pt; border-radius: 9px }"),
    "/plain/": (
        "text/html",
        "<style>p { color: rebeccapurple; background: url(red.png) #fafafa } .dark p { color: #eeeeee }"
        "@media (prefers-color-scheme: dark) { p { background: #101010 } } @media print { p { color: #000 } }</style>",
    ),
    "/more.css": ("text/css", "p { font-family: Inter, serif; border-radius: 4px; color: var(--brand); gap: 8px }"),
}


@asynccontextmanager
async def website() -> AsyncGenerator[str]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readuntil(b"\r\n\r\n")).split()[1].decode()
        kind, body = PAGES.get(path, ("text/plain", ""))
        status = "200 OK" if path in PAGES else "404 Not Found"
        content = body.encode()
        size = f"Content-Length: {len(content)}"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{size}\r\nConnection: close\r\n\r\n".encode())
        writer.write(content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_the_style_sheets_of_an_address_are_read() -> None:
    async with website() as host:
        reading = await read_web_page(f"http://{host}/", WebFetcher(allow=[host]))
        values = {(token.kind, token.name, token.value) for token in reading.tokens}
        assert values == {
            ("color", "--brand", "#123456"),
            ("color", "colour 1, used once", "#00aa00"),
            ("font", "font 1, used once", "Inter, serif"),
            ("font", "font 2, used once", "x"),
            ("size", "size 1, used once", "1em"),
            ("size", "size 2, used once", "40px"),
            ("space", "space 1, used 2 times", "8px"),
            ("space", "space 2, used once", "12px"),
            ("radius", "radius 1, used once", "4px"),
        }
        assert [note.partition(":")[0] for note in reading.notes] == ["A style sheet was not read"]
        with pytest.raises(BadInput, match="status 404"):
            await read_web_page(f"http://{host}/none", WebFetcher(allow=[host]))
        with pytest.raises(BadInput, match="not on the public internet"):
            await read_web_page(f"http://{host}/")


async def read_tokens(path: str) -> tuple[set[tuple[str, str, str, str]], list[str]]:
    async with website() as host:
        reading = await read_web_page(f"http://{host}{path}", WebFetcher(allow=[host]))
    tokens = {(str(token.kind), token.name.partition(",")[0], token.value, token.mode) for token in reading.tokens}
    return tokens, [note.replace(host, "site") for note in reading.notes]


async def test_the_sheets_of_an_address_override_each_other_as_in_a_browser() -> None:
    tokens, notes = await read_tokens("/cascade/")
    assert tokens == {
        ("color", "--brand", "#c2410c", ""),
        ("color", "--ink", "#111111", ""),
        ("color", "--ink", "#eeeeee", "dark"),
        ("color", "--paper", "#fff", ""),
        ("color", "--paper", "#000", "dark"),
        ("font", "font 1", '"Söhne", serif', ""),
        ("size", "size 1", "2rem", ""),
        ("radius", "radius 1", "3px", ""),
    }
    assert notes == ["A style sheet was not read: http://site/css/missing.css answers with status 404."]


async def test_colours_without_variables_are_read_with_their_mode() -> None:
    tokens, _ = await read_tokens("/plain/")
    assert tokens == {
        ("color", "colour 1", "rebeccapurple", ""),
        ("color", "colour 2", "#fafafa", ""),
        ("color", "colour 1", "#eeeeee", "dark"),
        ("color", "colour 2", "#101010", "dark"),
    }


DESIGN = """# House

## Colours
- `ink`: hsl(0 0% 0%)
- `paper`: #ffffff
- `sea`: oklch(0.45 0.08 190)
## Fonts
- `sans`: "Inter", serif
## Font sizes
- `scale`: 1rem, 2rem
## Spacing
- `--spacing`: 0.25rem and its multiples
## Radii
- `pill`: 9999px
"""
PAGE = """<!doctype html><html lang="en"><style>
:root { --sea: oklch(0.45 0.08 190) }
body { margin: 0 auto; width: 900px; font: 16px Inter, sans-serif; color: #000; background: #fff }
h1 { font-size: 31px; margin: 8px 0; color: color-mix(in srgb, var(--sea) 100%, transparent) }
p { margin: 0 0 13px; padding: 6px; background: oklch(0.45 0.08 190 / 0.5); border-radius: 2000px }
b { color: #0000fe; font-family: Georgia }
i { display: none; color: red }
</style><body><h1>Title</h1><p>Words</p><p>More <b>here</b></p><i>hidden</i></body></html>"""


async def test_a_page_is_scored_by_the_values_that_are_tokens() -> None:
    score = await score_design(find_stack("html_css"), {"index.html": PAGE.encode()}, read_design(DESIGN))
    assert {kind.kind: (kind.kept, kind.total) for kind in score.kinds} == {
        "color": (6, 7),
        "font": (3, 4),
        "size": (3, 4),
        "space": (10, 12),
        "radius": (2, 2),
    }
    assert score.share == pytest.approx((6 / 7 + 3 / 4 + 3 / 4 + 10 / 12 + 1) / 5)
    strays = {(stray.property, stray.value, stray.count, stray.path, stray.nearest) for stray in score.strays}
    assert strays == {
        ("color", "#0000fe", 1, "body > p:nth-of-type(2) > b", "sea"),
        ("font-family", "Georgia", 1, "body > p:nth-of-type(2) > b", ""),
        ("font-size", "31px", 1, "body > h1", "scale (2rem)"),
        ("margin-bottom", "13px", 2, "body > p:nth-of-type(1)", "--spacing (12px)"),
    }


async def test_a_kind_without_tokens_is_not_scored() -> None:
    score = await score_design(
        find_stack("html_css"), {"index.html": PAGE.encode()}, read_design("## Colours\n- `x`: red")
    )
    assert [kind.kind for kind in score.kinds] == ["color"]
    assert score.share == 0
