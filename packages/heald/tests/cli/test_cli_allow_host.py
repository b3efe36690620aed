"""`--allow-host`: an operator lets tools and the studio fetch from hosts of a private network."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from cli_bench import is_one_line_error, run, run_with
from cli_pages import here
from heald.config.document import parse_document
from heald.config.paths import user_file
from heald.core.errors import ConfigurationError
from heald.core.messages import ToolCall
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from needed_programs import needs_chromium

Capture = pytest.CaptureFixture[str]
PAGE = b"<!doctype html><title>Wiki</title><h1>Holidays of the house</h1>"


@asynccontextmanager
async def intranet() -> AsyncGenerator[int]:
    """A site of a private network. Gives its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(PAGE), PAGE))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def fetched(capsys: Capture, port: int, *words: str) -> str:
    """What the model is given for a call of `fetch_url`."""
    call = ToolCall(id="c1", name="fetch_url", input={"url": f"http://127.0.0.1:{port}/"})
    async with ScriptedServer([wire_reply("chat", calls=[call]), wire_reply("chat", text="Done.")]) as server:
        line = run_with(server, "Look", "--tools", "web", "--permissions", "auto", "--rule", "allow fetch_url", *words)
        ran = await run(capsys, *line)
        assert ran.code == 0, ran.err
        return server.requests[1].body["messages"][-1]["content"]


async def test_a_tool_fetches_from_an_allowed_host(capsys: Capture) -> None:
    async with intranet() as port:
        refused = await fetched(capsys, port)
        assert f"unless Heald is started with --allow-host 127.0.0.1:{port}." in refused
        assert "Holidays of the house" in await fetched(capsys, port, "--allow-host", f"127.0.0.1:{port}")
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(f'[web]\nallow_hosts = ["127.0.0.1:{port}"]\n')
        assert "Holidays of the house" in await fetched(capsys, port)
        together = await fetched(capsys, port, "--allow-host", "wiki.example")
        assert "Holidays of the house" in together


def test_no_project_allows_a_host() -> None:
    with pytest.raises(ConfigurationError, match="cannot be set by a project"):
        parse_document(here("heald.toml"), "project", b'[web]\nallow_hosts = ["localhost"]\n')


async def test_an_address_instead_of_a_host(capsys: Capture) -> None:
    ran = await run(capsys, "run", "Hi", "--allow-host", "http://localhost:3000/")
    assert ran.code == 2
    assert is_one_line_error(ran)
    assert "--allow-host: 'http://localhost:3000/' is not a host; write one such as" in ran.err


@needs_chromium
@pytest.mark.usefixtures("headless_shell")
async def test_a_page_of_an_allowed_host_is_captured(capsys: Capture) -> None:
    async with intranet() as port:
        address = f"http://127.0.0.1:{port}/"
        async with ScriptedServer([wire_reply("chat", text="<!doctype html><title>Wiki</title><h1>A</h1>")]) as server:
            words = ["build", "--url", address, "--model", "m", "--base-url", f"{server.url}/v1", "--no-score"]
            refused = await run(capsys, *words)
            assert (refused.code, len(server.requests)) == (1, 0)
            assert f"--allow-host 127.0.0.1:{port}." in refused.err
            ran = await run(capsys, *words, "--allow-host", f"127.0.0.1:{port}")
            assert ran.code == 0, ran.err
            content = server.requests[0].body["messages"][-1]["content"]
    assert any(part["type"] == "image_url" for part in content)
