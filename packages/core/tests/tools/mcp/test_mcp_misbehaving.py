"""Servers that crash, hang and lie: an error for the call, never one of ours; and nothing is left of them."""

import asyncio
import gc
import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_calls import by_name, children, is_alive, open_files, raw, run, until

from heald.core.errors import ConfigurationError
from heald.tools.mcp import McpFault, McpServer, McpServers, ToolChange
from heald.tools.mcp.catalogue import tool_names
from heald.tools.mcp.process_transport import MAX_LOG, ErrorLog, LineBuffer

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at processes through /proc")


async def test_an_older_protocol() -> None:
    async with McpServers([raw()]) as servers:
        tools = by_name(servers)
        assert (await run(tools["raw__echo"], text="hi")).content == "hi"
        await run(tools["raw__change"])
        await until(lambda: servers.changes)
        assert servers.changes == [ToolChange("raw", "raw__echo", "changed")]
        with pytest.raises(McpFault, match="approved anew"):
            await run(tools["raw__echo"], text="hi")


async def test_servers_that_do_not_start_keep_the_others_working() -> None:
    configs = [
        raw(),
        raw("exit", name="exits"),
        raw("silent", name="silent", connect_timeout=1.0),
        raw("wrong-list", name="lies"),
        McpServer(name="missing", command="/nowhere/to/be/found"),
        McpServer(name="folder", command="/tmp"),
        McpServer(name="nobody", url="http://127.0.0.1:9/mcp"),
    ]
    async with McpServers(configs) as servers:
        assert set(servers.failures) == {"exits", "silent", "lies", "missing", "folder", "nobody"}
        assert servers.failures["silent"].status == "timeout"
        assert "list of tools" in str(servers.failures["lies"])
        assert "does not exist" in str(servers.failures["missing"])
        assert "ended before it was ready" in str(servers.failures["exits"])
        assert "could not be reached" in str(servers.failures["nobody"])
        assert servers.failures["exits"].log.endswith("cannot find the licence\n")
        assert len(servers.failures["exits"].log) <= MAX_LOG
        assert servers.log("exits") == servers.failures["exits"].log
        for fault in servers.failures.values():
            assert "/" not in str(fault).replace("MCP", "")
        assert set(by_name(servers)) == {"raw__echo", "raw__change"}


async def test_a_required_server_that_does_not_start_is_an_error() -> None:
    before = children()
    with pytest.raises(ConfigurationError, match="required"):
        await McpServers([raw(), raw("exit", name="exits", required=True)]).__aenter__()
    assert children() <= before


async def test_garbage_is_an_error_and_the_next_call_works() -> None:
    async with McpServers([raw("garbage")]) as servers:
        tool = by_name(servers)["raw__echo"]
        for _ in range(2):
            with pytest.raises(McpFault, match="that is none"):
                await run(tool, text="x")


async def test_a_flood_without_a_line_end_is_dropped() -> None:
    async with McpServers([raw("flood")]) as servers:
        assert (await run(by_name(servers)["raw__echo"], text="x")).content == "after the flood"


async def test_a_server_that_does_not_listen() -> None:
    async with McpServers([raw("stuck", call_timeout=0.5)]) as servers:
        tool = by_name(servers)["raw__echo"]
        with pytest.raises(McpFault) as caught:
            await run(tool, text="x" * 2_000_000)
        assert caught.value.status == "timeout"
        with pytest.raises(McpFault, match=r"within 0\.5 s"):
            await run(tool, text="x")


async def test_odd_tools_are_left_out_or_renamed(caplog: pytest.LogCaptureFixture) -> None:
    async with McpServers([raw("odd-tools")]) as servers:
        tools = by_name(servers)
        assert len(tools) == 5
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in tools)
        assert {"raw__echo", "raw__a_b", "raw__trust_me"} <= set(tools)
        trusted = tools["raw__trust_me"]
        assert trusted.effect == "any"
        assert trusted.summary is not None
        assert trusted.summary({}) == "raw: Just reads (marked as read-only)"
        long = next(tool for name, tool in tools.items() if "xxx" in name)
        assert (await run(long, text="hi")).content == "hi"
    left_out = [record.message for record in caplog.records if "left out" in record.message]
    assert len(left_out) == 4


@needs_proc
async def test_what_a_server_started_ends_with_it() -> None:
    for ways in (("children",), ("children", "deaf")):
        async with McpServers([raw(*ways)]) as servers:
            await until(lambda: "child" in servers.log("raw"))
            child = int(servers.log("raw").split()[1])
            assert is_alive(child)
        await until(lambda: not is_alive(child), 5.0)  # noqa: B023


@needs_proc
async def test_what_escapes_with_our_pipes_holds_nothing_open() -> None:
    files = open_files()
    async with McpServers([raw("escaped")]) as servers:
        await until(lambda: "child" in servers.log("raw"))
        child = int(servers.log("raw").split()[1])
    try:
        await asyncio.sleep(0.1)
        assert open_files() <= files
    finally:
        os.kill(child, signal.SIGKILL)


@needs_proc
async def test_cancelling_a_start_is_prompt_and_cleans_up() -> None:
    before = children()
    servers = McpServers([raw("silent")])
    task = asyncio.create_task(servers.__aenter__())
    await until(lambda: children() - before)
    await asyncio.sleep(0.2)
    start = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() <= before
    assert time.monotonic() - start < 25  # a start that is not cancelled takes 30


@needs_proc
async def test_many_cycles_leak_nothing() -> None:
    async def cycle() -> None:
        async with McpServers([raw()]) as servers:
            assert (await run(by_name(servers)["raw__echo"], text="x")).content == "x"

    await cycle()
    gc.collect()
    processes, files, tasks = children(), open_files(), len(asyncio.all_tasks())
    start = time.perf_counter()
    for _ in range(20):
        await cycle()
    print(f"{(time.perf_counter() - start) / 20 * 1000:.0f} ms a cycle", file=sys.stderr)
    gc.collect()
    assert children() <= processes
    assert open_files() <= files
    assert len(asyncio.all_tasks()) == tasks


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"name": "a b", "command": "x"}, "name"),
        ({"name": "a__b", "command": "x"}, "name"),
        ({"name": "", "command": "x"}, "name"),
        ({"name": "a" * 33, "command": "x"}, "name"),
        ({"name": "a"}, "either a command or a url"),
        ({"name": "a", "command": "x", "url": "http://x"}, "either a command or a url"),
        ({"name": "a", "url": "ftp://x"}, "http"),
        ({"name": "a", "command": "x", "call_timeout": 0}, "timeouts"),
    ],
)
def test_configurations_that_will_not_do(options: dict[str, str], wrong: str) -> None:
    with pytest.raises(ConfigurationError, match=wrong):
        McpServer(**options)  # pyright: ignore[reportArgumentType]


def test_two_servers_of_one_name() -> None:
    with pytest.raises(ConfigurationError, match="'raw'"):
        McpServers([raw(), raw()])


def test_secrets_are_not_shown() -> None:
    assert "canary" not in repr(McpServer(name="a", command="x", env={"K": "canary"}, headers={"K": "canary"}))


@given(st.lists(st.text(), unique=True, max_size=20))
def test_names_are_valid_and_each_only_once(originals: list[str]) -> None:
    names = tool_names("srv", originals)
    assert list(names) == originals
    assert len(set(names.values())) == len(originals)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names.values())
    assert tool_names("srv", originals[::-1]) == names


@given(st.lists(st.binary(max_size=20)), st.integers(1, 30))
def test_lines_in_any_cut(chunks: list[bytes], limit: int) -> None:
    lines = LineBuffer(limit)
    complete = [line for chunk in chunks for line in lines.feed(chunk)]
    assert complete == [line for line in b"".join(chunks).split(b"\n")[:-1] if len(line) <= limit]


def test_a_line_that_is_too_long_is_not_held() -> None:
    lines, chunk = LineBuffer(1_000_000), 100_000
    tracemalloc.start()
    for _ in range(500):
        assert lines.feed(b"x" * chunk) == []
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


@given(st.lists(st.binary(max_size=3 * MAX_LOG), max_size=6))
def test_the_log_keeps_the_end(chunks: list[bytes]) -> None:
    log = ErrorLog()
    for chunk in chunks:
        log.add(chunk)
    assert log.text() == b"".join(chunks)[-MAX_LOG:].decode("utf-8", "replace")


def test_without_the_package_it_states_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mcp'] = None\n"
        "try:\n    import heald.tools.mcp\n"
        "except Exception as error:\n    print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("ConfigurationError")
    assert "pip install 'heald[mcp]'" in said
