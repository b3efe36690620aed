"""A frame of Figma over its REST API: answers of the shapes that the API documents, from a real server."""

import io
import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from PIL import Image

from heald_pictures.design_request import design_of
from heald_studio.bad_input import BadInput
from heald_studio.input.figma import FigmaClient, FigmaLink, is_figma_link, parse_file, parse_link, read_figma
from heald_studio.input.figma_outline import describe_node
from heald_studio.prompt.build import build_prompt
from heald_studio.prompt.request import PromptRequest
from heald_studio.server.bodies import PromptBody
from heald_studio.server.briefs import read_brief
from heald_studio.stacks.installed import find_stack

TOKEN = "figd_CANARY-1d7c"
KEY = "AbCdEfGhIjKlMnOp"
LINK = f"https://www.figma.com/design/{KEY}/Harbour-Shop?node-id=12-34&t=xyz"
FRAME: dict[str, Any] = {
    "id": "12:34",
    "name": "Landing page",
    "type": "FRAME",
    "absoluteBoundingBox": {"x": 100.0, "y": 50.0, "width": 1280.0, "height": 800.0},
    "fills": [{"type": "SOLID", "blendMode": "NORMAL", "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0}}],
    "layoutMode": "VERTICAL",
    "itemSpacing": 24.0,
    "children": [
        {
            "id": "12:35",
            "name": "Title",
            "type": "TEXT",
            "characters": "Coffee by the harbour",
            "absoluteBoundingBox": {"x": 180.0, "y": 110.0, "width": 500.0, "height": 58.0},
            "style": {"fontFamily": "Inter", "fontWeight": 700, "fontSize": 48.0, "lineHeightPx": 58.09},
            "fills": [{"type": "SOLID", "color": {"r": 0.2, "g": 0.4, "b": 0.6, "a": 1.0}}],
        },
        {
            "id": "12:36",
            "name": "Card",
            "type": "RECTANGLE",
            "cornerRadius": 12.0,
            "strokeWeight": 1.0,
            "strokes": [{"type": "SOLID", "color": {"r": 0, "g": 0, "b": 0, "a": 0.5}}],
            "fills": [{"type": "IMAGE", "imageRef": "abc"}],
        },
        {"id": "12:37", "name": "Hidden", "type": "TEXT", "visible": False, "characters": "Never seen"},
    ],
}
FILE = {
    "name": "Shop",
    "document": {
        "id": "0:0",
        "name": "Document",
        "type": "DOCUMENT",
        "children": [{"id": "0:1", "name": "Page 1", "type": "CANVAS", "children": [FRAME]}],
    },
}


class Figma:
    """A server with the answers of the API, and the requests that it got."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.images: dict[str, str | None] = {}


@contextmanager
def _figma() -> Generator[tuple[str, Figma]]:
    state = Figma()
    out = io.BytesIO()
    Image.new("RGB", (640, 400), "teal").save(out, "PNG")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            token = self.headers.get("X-Figma-Token") or ""
            state.requests.append((self.path, token))
            path = self.path.partition("?")[0]
            nodes = {"name": "Shop", "nodes": {"12:34": {"document": FRAME, "components": {}, "styles": {}}}}
            answers: dict[str, Any] = {
                f"/v1/files/{KEY}/nodes": nodes,
                f"/v1/files/{KEY}": FILE,
                f"/v1/images/{KEY}": {"err": None, "images": state.images},
                "/v1/me": {"id": "1", "email": "ann@example.org", "handle": "Ann"},
            }
            if path == "/drawn.png":
                self._answer(200, "image/png", out.getvalue())
            elif token != TOKEN:
                self._answer(403, "application/json", b'{"status": 403, "err": "Invalid token"}')
            elif path in answers:
                self._answer(200, "application/json", json.dumps(answers[path]).encode())
            else:
                self._answer(404, "application/json", b'{"status": 404, "err": "Not found"}')

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    address = f"http://127.0.0.1:{server.server_port}"
    state.images["12:34"] = f"{address}/drawn.png"
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield address, state
    finally:
        server.shutdown()
        server.server_close()


def test_links_name_a_file_and_a_frame() -> None:
    assert parse_link(LINK) == FigmaLink(KEY, "12:34")
    assert parse_link(f"https://figma.com/file/{KEY}/Name") == FigmaLink(KEY)
    assert parse_link(f"https://www.figma.com/design/{KEY}/branch/ZyXwVuTsRq/Name?node-id=1-2").key == "ZyXwVuTsRq"
    assert not is_figma_link("https://www.figma.com/pricing")
    assert not is_figma_link(f"https://figma.com.example.org/file/{KEY}/x")
    for bad in ("https://example.org/", f"https://figma.com/file/{KEY}/x?node-id=../../v1/me", "https://["):
        with pytest.raises(BadInput):
            parse_link(bad)


async def test_a_frame_has_its_picture_and_an_outline(monkeypatch: pytest.MonkeyPatch) -> None:
    with _figma() as (address, state):
        frame = await FigmaClient(TOKEN, api=address).read_frame(parse_link(LINK))
        assert frame.name == "Landing page"
        assert frame.picture is not None
        assert frame.picture.startswith(b"\x89PNG")
        assert "- frame “Landing page”, 0, 0, 1280 × 800 px, fill #ffffff, vertical layout, gap 24 px" in frame.outline
        assert (
            "  - text “Title”, 80, 60, 500 × 58 px, text “Coffee by the harbour”, Inter 700 48 px, line 58.09 px, "
            "colour #336699" in frame.outline
        )
        assert "fill a picture, border 1 px #000000 at 50%, radius 12 px" in frame.outline
        assert "Never seen" not in frame.outline
        assert [token for path, token in state.requests if path == "/drawn.png"] == [""]
        assert (await FigmaClient(TOKEN, api=address).read_frame(FigmaLink(KEY))).name == "Landing page"
        monkeypatch.setenv("FIGMA_TOKEN", TOKEN)
        monkeypatch.setenv("FIGMA_API_URL", address)
        brief = await read_brief(PromptBody(figma=LINK))
        assert (brief.mode, brief.title, len(brief.views)) == ("image", "Landing page", 1)
        assert (brief.views[0].picture.width, brief.views[0].picture.height) == (640, 400)
        request = PromptRequest(shots=(brief.views[0].shot(),), outline=brief.outline)
        message = build_prompt(request, find_stack("html_css")).messages[-1]
        assert "Inter 700 48 px" in message.text
        design = design_of(message)
        assert design is not None
        assert design.instruction == ""  # the local converter goes by the picture


async def test_what_figma_refuses_is_a_sentence_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with _figma() as (address, state):
        cases = [
            (FigmaClient(f"{TOKEN}-wrong", api=address), FigmaLink(KEY, "12:34"), "refused the token"),
            (FigmaClient(TOKEN, api=address), FigmaLink("OtherFile123", "12:34"), "no such file"),
            (FigmaClient(TOKEN, api=address), FigmaLink(KEY, "9:9"), "no such frame"),
        ]
        for client, link, words in cases:
            with pytest.raises(BadInput, match=words) as fault:
                await client.read_frame(link)
            assert TOKEN not in str(fault.value)
        state.images["12:34"] = None
        with pytest.raises(BadInput, match="could not draw the frame"):
            await FigmaClient(TOKEN, api=address).read_frame(FigmaLink(KEY, "12:34"))
    with pytest.raises(BadInput, match="cannot be reached"):
        await FigmaClient(TOKEN, api="http://127.0.0.1:9").read_frame(FigmaLink(KEY, "12:34"))
    monkeypatch.delenv("FIGMA_TOKEN", raising=False)
    monkeypatch.delenv("FIGMA_ACCESS_TOKEN", raising=False)
    with pytest.raises(BadInput, match="needs a token"):
        await read_figma(LINK)


async def test_a_picture_elsewhere_in_a_private_network_is_not_loaded() -> None:
    with _figma() as (address, state), _figma() as (other, seen):
        state.images["12:34"] = f"{other}/drawn.png"
        with pytest.raises(BadInput, match="cannot be fetched"):
            await FigmaClient(TOKEN, api=address).read_frame(FigmaLink(KEY, "12:34"))
        assert seen.requests == []


@pytest.mark.parametrize("content", [FILE, {"nodes": {"12:34": {"document": FRAME}}}, FRAME])
async def test_a_file_gives_the_outline_without_a_picture(content: dict[str, Any]) -> None:
    frame = await read_figma(json.dumps(content))
    assert (frame.name, frame.picture) == ("Landing page", None)
    assert "Coffee by the harbour" in frame.outline


@pytest.mark.parametrize("text", ["{", "{}", '{"document": {"type": "DOCUMENT", "children": []}}', "{" * 10_000])
def test_files_that_hold_no_design(text: str) -> None:
    with pytest.raises(BadInput):
        parse_file(text)


def test_a_large_or_deep_file_is_cut() -> None:
    deep: dict[str, Any] = {"id": "1:1", "name": "x", "type": "FRAME"}
    for _ in range(400):
        deep = {"id": "1:1", "name": "x" * 200, "type": "FRAME", "children": [deep] * 2}
    assert len(parse_file(json.dumps(FRAME | {"children": FRAME["children"] * 2_000})).outline) < 25_000
    assert len(describe_node(deep)) < 25_000
