"""A real server over stdio: every kind of result, and every way for a call to end."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from mcp_calls import by_name, children, forked, is_alive, real, run, until

from heald.core.messages import File, Image, Text
from heald.tools.mcp import McpFault, McpServers, ToolChange

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at processes through /proc")
SERVER = "mcp_real_server.py"


@pytest.fixture
async def servers() -> AsyncGenerator[McpServers]:
    servers = McpServers([forked("real", SERVER, call_timeout=30.0)])
    await servers.__aenter__()
    try:
        yield servers
    finally:
        await servers.close()


async def test_tools_and_results(servers: McpServers) -> None:
    tools = by_name(servers)
    assert servers.failures == {}
    assert {"real__echo", "real__everything", "real__fail"} <= set(tools)
    echo = tools["real__echo"]
    assert echo.effect == "any"
    assert echo.definition.description == "Say it again."
    assert echo.definition.input_schema["required"] == ["text"]

    assert (await run(echo, text="hé\n😀")).content == "hé\n😀"
    assert (await run(tools["real__add"], a=1, b=2)).content == '{\n  "sum": 3\n}'

    words, picture, wrong, link, document, structured = (await run(tools["real__everything"])).content
    assert words == Text("words")
    assert isinstance(picture, Image)
    assert picture.media_type == "image/png"  # by its bytes, whatever the server says
    assert isinstance(wrong, Text)
    assert "left out" in wrong.text
    assert link == Text("[Resource notes at file:///notes.txt: some notes]")
    assert isinstance(document, File)
    assert structured == Text('{"answer":42}')

    failed = await run(tools["real__fail"])
    assert failed.is_error


async def test_the_environment_is_only_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    monkeypatch.setenv("LANG", "C.UTF-8")
    async with McpServers([forked("real", SERVER, env={"TOKEN": "given"})]) as servers:
        names = str((await run(by_name(servers)["real__environment"])).content).split()
    assert set(names) - {"LC_CTYPE"} <= {"HOME", "LANG", "PATH", "TOKEN"}
    assert "TOKEN" in names


async def test_a_call_that_is_cancelled_is_cancelled_at_the_server(servers: McpServers, tmp_path: Path) -> None:
    mark, outputs = tmp_path / "mark", list[str]()
    task = asyncio.create_task(run(by_name(servers)["real__hang"], outputs, mark=str(mark)))
    await until(lambda: mark.exists() and bool(outputs))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: mark.read_text() == "cancelled")
    assert outputs == ["half way"]
    assert (await run(by_name(servers)["real__echo"], text="still there")).content == "still there"


async def test_a_call_that_hangs_ends_in_time(tmp_path: Path) -> None:
    async with McpServers([forked("real", SERVER, call_timeout=1.0)]) as servers:
        with pytest.raises(McpFault) as caught:
            await run(by_name(servers)["real__hang"], mark=str(tmp_path / "mark"))
        assert caught.value.status == "timeout"
        assert "within 1 s" in str(caught.value)
        await until(lambda: (tmp_path / "mark").read_text() == "cancelled")
        assert (await run(by_name(servers)["real__echo"], text="on")).content == "on"


async def test_a_server_that_disconnects_in_the_middle_is_restarted(servers: McpServers) -> None:
    tools = by_name(servers)
    before = (await run(tools["real__pid"])).content
    with pytest.raises(McpFault) as caught:
        await run(tools["real__leave"])
    assert "ended in the middle of 'leave'" in str(caught.value)
    assert "leaving now" in caught.value.log
    assert "leaving now" not in str(caught.value)
    assert (await run(tools["real__pid"])).content != before
    assert servers.changes == []


async def test_a_server_killed_in_the_middle_is_restarted(servers: McpServers, tmp_path: Path) -> None:
    tools, mark = by_name(servers), tmp_path / "mark"
    others = asyncio.gather(
        *(run(tools["real__hang"], mark=str(tmp_path / f"{n}")) for n in range(3)), return_exceptions=True
    )
    task = asyncio.create_task(run(tools["real__hang"], mark=str(mark)))
    await until(mark.exists)
    pid = int(mark.read_text().split()[1])
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(McpFault, match="ended in the middle"):
        await task
    assert all(isinstance(ended, McpFault) for ended in await others)
    again = await asyncio.gather(*(run(tools["real__pid"]) for _ in range(5)))
    assert len({str(output.content) for output in again}) == 1  # started once for all of them
    assert again[0].content != str(pid)
    assert not is_alive(pid)


async def test_a_server_killed_between_calls_is_restarted() -> None:
    async with McpServers([real(call_timeout=30.0)]) as servers:
        tools = by_name(servers)
        pid = int(str((await run(tools["real__pid"])).content))
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not is_alive(pid))
        await asyncio.sleep(0.1)
        assert (await run(tools["real__echo"], text="back")).content == "back"


async def test_a_tool_that_changes_is_noticed_and_not_called(servers: McpServers) -> None:
    tools = by_name(servers)
    await run(tools["real__change"])
    await until(lambda: servers.changes)
    assert set(servers.changes) == {
        ToolChange("real", "real__echo", "changed"),
        ToolChange("real", "real__added", "added"),
    }
    with pytest.raises(McpFault) as caught:
        await run(tools["real__echo"], text="x")
    assert caught.value.kind == "tool_changed"
    anew = by_name(servers)
    assert "secrets" in anew["real__echo"].definition.description
    assert (await run(anew["real__echo"], text="x")).content == "changed x"
    assert (await run(anew["real__added"])).content == "new"


async def test_nothing_is_left_after_closing() -> None:
    before = children()
    async with McpServers([real()]) as servers:
        tools = by_name(servers)
        pid = int(str((await run(tools["real__pid"])).content))
    assert not is_alive(pid)
    assert children() <= before
    with pytest.raises(McpFault, match="is closed"):
        await run(tools["real__pid"])
