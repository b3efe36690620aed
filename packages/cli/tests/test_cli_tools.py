"""`heald run` with tools: a folder, permissions, limits, and an exit status that says how it ended."""

import asyncio
import os
import signal
from itertools import count
from json import loads
from pathlib import Path
from typing import Any

import pytest

from cli_bench import run, run_with, started
from heald.core.envelope import Event, decode_event
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald_check import check_log

_numbers = count(1)


def calls(*made: tuple[str, dict[str, Any]], wire: str = "chat", text: str = "") -> Reply:
    requested = [ToolCall(id=f"call_{next(_numbers)}", name=name, input=arguments) for name, arguments in made]
    return wire_reply(wire, text=text, calls=requested)


def events_of(out: str) -> list[Event]:
    return [decode_event(line) for line in out.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    (place / "a.txt").write_text("hello\nworld\n")
    return place


@pytest.mark.parametrize("wire", ["chat", "responses", "messages", "gemini"])
async def test_a_folder_is_worked_on(wire: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit = {"path": "a.txt", "edits": [{"old_text": "world", "new_text": "$& \\1"}]}
    replies = [
        calls(("read_file", {"path": "a.txt"}), wire=wire, text="Let me look."),
        calls(("edit_file", edit), ("create_file", {"path": "b/c.txt", "content": "new\n"}), wire=wire),
        wire_reply(wire, text="Done."),
    ]
    async with ScriptedServer(replies) as server:
        words = ["Do it", "--workspace", str(folder), "--permissions", "auto"]
        ran = await run(capsys, *run_with(server, *words, wire=wire))
    assert (ran.code, ran.out) == (0, "Let me look.\nDone.\n")
    assert (folder / "a.txt").read_text() == "hello\n$& \\1\n"
    assert (folder / "b" / "c.txt").read_text() == "new\n"
    lines = ran.err.splitlines()
    first, *side_by_side = [line.split()[:2] for line in lines[:3]]
    assert (first, sorted(side_by_side)) == (["✓", "read_file"], [["✓", "create_file"], ["✓", "edit_file"]])
    assert lines[-1] == "heald: 33 in, 21 out, cost unknown, 3 turns"


async def test_every_event_as_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = [calls(("create_file", {"path": "x.html", "content": "<p>" * 100})), wire_reply("chat", text="Done.")]
    async with ScriptedServer(replies) as server:
        words = ["Do it", "--workspace", str(folder), "--permissions", "auto", "--json"]
        ran = await run(capsys, *run_with(server, *words))
    events = events_of(ran.out)
    assert check_log(events, host_paths=[str(folder)]) == []
    kinds = [event.type for event in events]
    expected = [
        "tool_use_content_block_start",
        "file_preview",
        "tool_call",
        "tool_use_message",
        "file_changed",
        "tool_result",
    ]
    assert [kind for kind in dict.fromkeys(kinds) if kind in expected] == expected
    assert kinds[-1] == "exchange_response"


async def test_without_a_terminal_nobody_allows_anything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replies = [calls(("write_file", {"path": "a.txt", "content": "x"})), wire_reply("chat", text="As you like.")]
    async with ScriptedServer(replies) as server:
        ran = await run(capsys, *run_with(server, "Do it", "--workspace", str(folder)))
        told = server.requests[1].body["messages"][-1]["content"]
    assert ran.code == 0
    assert "There is no terminal for a question" in told
    assert (folder / "a.txt").read_text() == "hello\nworld\n"


async def test_read_only_and_rules(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = [("write_file", {"path": "a.txt", "content": "x"}), ("write_file", {"path": "free/b.txt", "content": "x"})]
    async with ScriptedServer([calls(*made), wire_reply("chat", text="Done.")]) as server:
        words = [
            "Do it",
            "--workspace",
            str(folder),
            "--permissions",
            "read-only",
            "--rule",
            "allow write_file(free/*)",
        ]
        ran = await run(capsys, *run_with(server, *words))
    assert ran.code == 0
    assert "✗ write_file (0 ms) denied: This call is not permitted. This agent may only read." in ran.err
    assert (folder / "free" / "b.txt").read_text() == "x"
    assert (folder / "a.txt").read_text() == "hello\nworld\n"


async def test_no_tools_without_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([wire_reply("chat", text="Hi.")]) as server:
        ran = await run(capsys, *run_with(server, "Hi"))
        assert "tools" not in server.requests[0].body
    assert ran.code == 0


async def test_what_is_only_in_memory_is_reported_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    replies = [calls(("create_file", {"path": "x.html", "content": "<p>"})), wire_reply("chat", text="Done.")]
    async with ScriptedServer(replies) as server:
        ran = await run(capsys, *run_with(server, "Do it", "--tools", "files", "--permissions", "auto"))
    assert ran.err.endswith("heald: x.html is not saved; --workspace DIR saves files.\n")


@pytest.mark.parametrize(("words", "limit"), [(["--max-turns", "3"], "3 turns"), (["--max-tokens", "20"], "20 tokens")])
async def test_a_limit_is_status_3(words: list[str], limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer(lambda _: calls(("todo_list", {"items": []}))) as server:
        ran = await run(capsys, *run_with(server, "Go", "--tools", "todo", *words))
        assert len(server.requests) == (3 if "turns" in limit else 2)
    assert ran.code == 3
    assert f"The exchange reached its budget of {limit}." in ran.err


async def test_a_failure_is_status_1(capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([Reply.json({"error": {"message": "no"}}, 400)]) as server:
        ran = await run(capsys, *run_with(server, "Hi", "--tools", "todo"))
    assert ran.code == 1


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--tools", "fiels"], "There is no tool 'fiels'; did you mean 'files'?"),
        (["--workspace", "nowhere"], "There is no folder 'nowhere' to work in; create it first."),
        (["--rule", "forbid x"], "'forbid x' is not a rule"),
        (["--rule", "deny run_comand(*)"], "matches no tool; did you mean 'run_command'?"),
        (["--max-turns", "0"], "The budget of turns is 0; it must be greater than 0"),
    ],
)
async def test_wrong_use_is_status_2(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with ScriptedServer([]) as server:
        ran = await run(capsys, *run_with(server, "Hi", *words))
        assert server.requests == []
    assert ran.code == 2
    assert reason in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_in_the_middle_of_a_tool(ending: signal.Signals, folder: Path) -> None:
    sleeping = f"sleep 600.{os.getpid()}"  # nobody else's
    async with ScriptedServer([calls(("run_command", {"command": f"touch begun; {sleeping}"}))]) as server:
        words = ["Do it", "--workspace", str(folder), "--permissions", "auto", "--json", "--unsandboxed"]
        async with started(*run_with(server, *words)) as process:
            async with asyncio.timeout(60):
                while not (folder / "begun").exists():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
            process.send_signal(ending)
            out, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 130
    events = events_of(out.decode())
    assert check_log(events) == []
    last = loads(out.decode().splitlines()[-1])
    assert (last["type"], last["data"]["status"]) == ("exchange_response", "cancelled")
    assert not _processes(sleeping)


def _processes(command: str) -> list[str]:
    processes: list[str] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if line.strip() == command:
            processes.append(name)
    return processes
