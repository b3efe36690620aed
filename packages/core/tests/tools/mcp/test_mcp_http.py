"""A real server over streamable HTTP."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp_calls import HERE, by_name, run, until

from heald.tools.mcp import McpFault, McpServer, McpServers
from mcp_host import forked_command


def free_port() -> int:
    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return here.getsockname()[1]


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@asynccontextmanager
async def serving(port: int) -> AsyncGenerator[asyncio.subprocess.Process]:
    command = forked_command(str(HERE / "mcp_real_server.py"), str(port))
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    try:
        await until(lambda: answers(port), 60.0)
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def config(port: int) -> McpServer:
    return McpServer(name="web", url=f"http://127.0.0.1:{port}/mcp", call_timeout=30.0)


async def test_calls_changes_and_a_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    port = free_port()
    async with serving(port) as process, McpServers([config(port)]) as servers:
        assert servers.failures == {}
        tools = by_name(servers)
        assert (await run(tools["web__echo"], text="hi")).content == "hi"
        assert (await run(tools["web__fail"])).is_error

        mark = tmp_path / "mark"
        task = asyncio.create_task(run(tools["web__hang"], mark=str(mark)))
        await until(mark.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: mark.read_text() == "cancelled")

        mark.unlink()
        task = asyncio.create_task(run(tools["web__hang"], mark=str(mark)))
        await until(mark.exists)
        process.kill()
        with pytest.raises(McpFault):
            await task
        with pytest.raises(McpFault):
            await run(tools["web__echo"], text="nobody there")
        async with serving(port):
            assert (await run(tools["web__echo"], text="back")).content == "back"
            await run(tools["web__change"])
            await until(lambda: servers.changes)
            with pytest.raises(McpFault, match="approved anew"):
                await run(tools["web__echo"], text="x")


async def answer_with(reply: bytes, port_of: list[int]) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply)
            await writer.drain()
            if b"chunked" in reply:
                while True:
                    writer.write(b"10000\r\n" + b" " * 65536 + b"\r\n")
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port_of.append(server.sockets[0].getsockname()[1])
    return server


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
async def test_answers_that_are_none_are_a_failed_start(reply: bytes) -> None:
    ports: list[int] = []
    async with await answer_with(reply, ports):
        server = McpServer(name="web", url=f"http://127.0.0.1:{ports[0]}/mcp", connect_timeout=10.0)
        async with McpServers([server]) as servers:
            assert set(servers.failures) == {"web"}
            assert servers.tools == []
