"""A model that builds pages, and pictures to give it."""

import struct
import zlib
from pathlib import Path
from typing import Any

from heald.core.messages import ToolCall
from heald.testing.server import Reply
from heald.testing.streams import wire_reply

PAGE = "<!doctype html><title>Bakery</title><h1>Bread</h1><p>Every morning.</p>"


def builder(request: Any) -> Reply:
    """Writes a page, then says so. A model whose name holds `broken` is refused."""
    model, messages = request.body["model"], request.body["messages"]
    if "broken" in model:
        return Reply.json({"error": {"message": "no such thing"}}, 400)
    if messages[-1]["role"] == "tool":
        return wire_reply("chat", text="The page is there.")
    page = PAGE if "plain" not in model else PAGE.replace("Bread", "Something else entirely")
    return wire_reply(
        "chat", calls=[ToolCall(id="c1", name="create_file", input={"path": "index.html", "content": page})]
    )


def changer(request: Any) -> Reply:
    """Changes a line of the page that is there."""
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="Changed.")
    edit = {"path": "index.html", "old_text": "Every morning.", "new_text": "Every evening."}
    return wire_reply("chat", calls=[ToolCall(id="c1", name="edit_file", input=edit)])


def picture(path: Path, width: int = 320, height: int = 120) -> Path:
    """A white PNG with a dark bar, written by hand."""
    rows = b"".join(
        b"\0" + bytes([40, 40, 40] * width if 10 < row < 30 else [255, 255, 255] * width) for row in range(height)
    )

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    )
    return path


def here(name: str) -> Path:
    """A place in the folder that the command works in."""
    return Path.cwd() / name
