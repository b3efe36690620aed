"""What a tool gives back fits into an event of the log, whatever it is: I05 and I39."""

import base64
import io
import os
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heald
from example_counts import scaled
from heald.core.envelope import Event
from heald.core.json import encode
from heald.core.messages import File, Image, ResultPart, Text, ToolResult
from heald.tools.result_media import ROOM, is_too_large, shrink_parts
from heald.tools.result_text import TEXT_BYTES, truncate_content
from heald.tools.workspace.memory import MemoryWorkspace
from heald_check.checker import check_log

S = heald.testing.ScriptedModel
MIB = 1024 * 1024


def _noise(side: int, kind: str = "PNG") -> bytes:
    """A picture that no encoder makes small."""
    from PIL import Image as Pillow

    out = io.BytesIO()
    Pillow.frombytes("RGB", (side, side), os.urandom(side * side * 3)).save(out, kind)
    return out.getvalue()


async def _log(tools: list[Any], call: Any, **options: Any) -> tuple[list[Event], ToolResult]:
    agent = heald.Agent(S([[call], "Done."]), tools=tools, permissions="auto", **options)
    events = [event async for event in agent.stream("Go.")]
    result = next(event.data for event in events if isinstance(event.data, ToolResult))
    assert not check_log(events)
    assert max(len(encode(event)) for event in events) <= MIB
    return events, result


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
async def test_a_large_picture_is_read_smaller(kind: str) -> None:
    pytest.importorskip("PIL", reason="pictures are made smaller with Pillow, which is not installed")
    data = _noise(900 if kind == "PNG" else 1200, kind)
    assert len(data) > 750_000
    files = MemoryWorkspace({"big.img": data})
    _, result = await _log(["files"], S.call("read_file", path="big.img"), workspace=files)
    assert result.status == "ok"
    picture = next(part for part in result.content if isinstance(part, Image))
    assert picture.media_type == "image/jpeg"
    assert len(picture.data or "") <= ROOM
    assert "Made smaller to fit" in result.text
    assert result.truncated


async def test_several_pictures_share_the_room() -> None:
    pytest.importorskip("PIL", reason="pictures are made smaller with Pillow, which is not installed")
    small = _noise(100)
    files = MemoryWorkspace({"a.png": _noise(800), "b.png": _noise(900), "c.png": small})
    ranges = [{"path": path} for path in ("a.png", "b.png", "c.png")]
    _, result = await _log(["files"], S.call("read_file", files=ranges), workspace=files)
    pictures = [part for part in result.content if isinstance(part, Image)]
    assert len(pictures) == 3
    assert base64.b64decode(pictures[2].data or "") == small


async def test_without_pillow_it_is_left_out_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\x89PNG\r\n\x1a\n" + os.urandom(900_000)
    monkeypatch.setitem(sys.modules, "PIL", None)
    _, result = await _log(["files"], S.call("read_file", path="a.png"), workspace=MemoryWorkspace({"a.png": data}))
    assert not any(isinstance(part, Image) for part in result.content)
    assert "is left out: make it smaller." in result.text


@heald.tool
def many() -> list[Image]:
    """Pictures that are none, and too large."""
    return [Image(data="!" * 2_000_000), Image(data=base64.b64encode(b"\x89PNG" * 200_000).decode())]


@heald.tool
def paper() -> list[File]:
    """A document."""
    return [File(media_type="application/pdf", name="a.pdf", data="A" * 3_000_000)]


@heald.tool
def loud(ctx: heald.ToolContext) -> str:
    """Says much at once."""
    ctx.output("q\x01" * 1_500_000)
    return "\x01" * 200_000


@pytest.mark.parametrize("name", ["many", "paper", "loud"])
async def test_any_tool(name: str) -> None:
    await _log([many, paper, loud], S.call(name))


async def test_what_was_output_is_all_there() -> None:
    events, _ = await _log([loud], S.call("loud"))
    said = "".join(event.data.text for event in events if event.type == "tool_output_delta")  # pyright: ignore
    assert said == "q\x01" * 1_500_000


@pytest.mark.parametrize("letter", ["字", "\x01", '"', "a", "𐍈"])
async def test_text_of_any_script(letter: str) -> None:
    text = "\n".join(letter * 50 for _ in range(10_000))
    files = MemoryWorkspace({f"{name}.txt": text.encode() for name in "abcd"})
    ranges = [{"path": f"{name}.txt"} for name in "abcd"]
    _, result = await _log(["files"], S.call("read_file", files=ranges), workspace=files)
    assert result.truncated


@settings(max_examples=scaled(60), deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("a\x01字𐍈\n\\"), st.integers(0, 120_000)), max_size=6),
    st.integers(200, 300_000),
)
def test_capped_is_within_both_bounds(runs: list[tuple[str, int]], limit: int) -> None:
    text = "".join(letter * count for letter, count in runs)
    short, cut = truncate_content(text, limit)
    assert isinstance(short, str)
    assert len(short) <= limit + 80
    assert len(encode(short)) <= TEXT_BYTES + 200
    assert cut or short == text
    if not cut:
        return
    head, _, tail = short.partition("\n\n[… ")
    assert text.startswith(head)
    assert text.endswith(tail.partition(" …]\n\n")[2])


@settings(max_examples=scaled(60), deadline=None)
@given(st.lists(st.one_of(st.integers(0, 900_000), st.none()), max_size=12))
def test_fitted_keeps_what_is_small(sizes: list[int | None]) -> None:
    parts: list[ResultPart] = [Text("t") if size is None else Image(data="A" * size) for size in sizes]
    after = shrink_parts(parts) if is_too_large(parts) else parts
    assert sum(len(part.data or "") for part in after if isinstance(part, Image)) <= ROOM
    assert len(after) == len(parts)
    smallest = min((size for size in sizes if size is not None), default=0)
    if smallest and smallest * len(sizes) <= ROOM:
        assert any(isinstance(part, Image) and part.data == "A" * smallest for part in after)
