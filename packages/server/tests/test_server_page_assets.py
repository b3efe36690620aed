"""The files of the page: packed where they lie and on the way, plain for whoever wants them so."""

import gzip
from pathlib import Path

import pytest

from heald.sessions.memory import MemoryStore
from heald_server.context import ServerContext
from serving_parts import S, context_on, serving

SCRIPT = b"console.log('hello');\n" * 100


@pytest.fixture
def context(tmp_path: Path) -> ServerContext:
    """A server whose page is in a folder of its own."""
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "index-1.js.gz").write_bytes(gzip.compress(SCRIPT))
    (assets / "dot-2.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.txt").write_text("secret")
    context = context_on(MemoryStore(), {"scripted": lambda: S(["Hi."])})
    context.protocol_options["native"] = {"page": tmp_path}
    return context


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, deflate, br, zstd", "gzip"),
        ("br;q=1.0, GZIP;q=0.5", "gzip"),
        ("gzip;q=0", None),
        ("gzip; q=0.00, identity", None),
        ("identity", None),
        ("xgzip", None),
        ("", None),
    ],
)
async def test_each_gets_what_it_can_read(context: ServerContext, accepted: str, coding: str | None) -> None:
    async with serving(context) as server:
        asked = server.client.get("/assets/index-1.js", headers={"Accept-Encoding": accepted})
        async with asked as answer:
            assert answer.status == 200
            assert answer.headers.get("Content-Encoding") == coding
            assert answer.headers["Vary"] == "Accept-Encoding"
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.headers["Content-Type"].startswith("text/javascript")
            assert await answer.read() == SCRIPT  # which the client unpacked
            smaller = int(answer.headers["Content-Length"]) < len(SCRIPT)
            assert smaller is (coding is not None)


async def test_what_is_not_packed_and_what_is_not_there(context: ServerContext) -> None:
    async with serving(context) as server:
        async with server.client.get("/assets/dot-2.png") as answer:
            assert (answer.status, await answer.read()) == (200, b"\x89PNG")
            assert "Content-Encoding" not in answer.headers
        for name in ("index-2.js", "..%2Fsecret.txt", ".sources", "x" * 101, "%00"):
            async with server.client.get(f"/assets/{name}") as answer:
                assert answer.status == 404
