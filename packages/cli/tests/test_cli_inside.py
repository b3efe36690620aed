"""The permissions `inside` and the hosts of commands, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from cli_bench import run, run_with
from heald.core.envelope import decode_event
from heald.core.messages import ToolCall, ToolResult
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.network import folder_hosts
from heald.tools.shell.sandbox import Sandbox
from heald_check import check_log

Capture = pytest.CaptureFixture[str]
NEEDS_SANDBOX = pytest.mark.skipif(Sandbox().available() is not None, reason="there is no sandbox here")
HOST = "packages.example.org"


def calls(*commands: str) -> Reply:
    made: list[Any] = [
        ToolCall(id=f"call_{index}", name="run_command", input={"command": command})
        for index, command in enumerate(commands)
    ]
    return wire_reply("chat", calls=made)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "site"
    place.mkdir()
    return place


async def work(capsys: Capture, folder: Path, commands: list[str], *options: str) -> tuple[list[str], str]:
    """Run one prompt whose model runs these commands. Return their results and the text of standard error."""
    async with ScriptedServer([calls(*commands), wire_reply("chat", text="Done.")]) as server:
        words = ["Do it", "--workspace", str(folder), "--permissions", "inside", "--json", *options]
        ran = await run(capsys, *run_with(server, *words))
    events = [decode_event(line) for line in ran.out.splitlines()]
    assert check_log(events, host_paths=[str(folder)]) == []
    results = sorted(
        (event.data for event in events if isinstance(event.data, ToolResult)), key=lambda result: result.id
    )
    return [result.text for result in results], ran.err


@NEEDS_SANDBOX
async def test_what_stays_inside_runs_and_what_leaves_is_refused_without_a_terminal(
    capsys: Capture, folder: Path
) -> None:
    results, _ = await work(capsys, folder, ["echo made > a.txt; cat a.txt", "git push", f"curl -sS http://{HOST}/"])
    assert "made" in results[0]
    assert (folder / "a.txt").read_text() == "made\n"
    assert "There is no terminal for a question" in results[1]
    assert f"--allow-host {HOST}" in results[2]


@NEEDS_SANDBOX
async def test_an_allowed_host_is_not_refused(capsys: Capture, folder: Path) -> None:
    """It cannot be resolved here; that comes after the permission."""
    results, _ = await work(
        capsys, folder, ["curl -sS http://no-such-host.invalid/"], "--allow-host", "no-such-host.invalid"
    )
    assert "The host no-such-host.invalid is not known" in results[0]


async def test_without_the_sandbox_it_says_that_it_asks(capsys: Capture, folder: Path) -> None:
    results, error = await work(capsys, folder, ["echo made > a.txt"], "--unsandboxed")
    assert "There is no terminal for a question" in results[0]
    assert not (folder / "a.txt").exists()
    assert "every command is asked for. --unsandboxed is set." in error


async def test_hosts_are_listed_and_forgotten(capsys: Capture, folder: Path) -> None:
    folder_hosts.allow_in(str(folder), [HOST, "a.example.org"])
    listed = await run(capsys, "trust", "--list", "--json")
    assert json.loads(listed.out) == {"folder": str(folder), "hosts": ["a.example.org", HOST]}
    assert HOST in (await run(capsys, "trust", "--list")).out
    forgotten = await run(capsys, "trust", str(folder), "--forget")
    assert (forgotten.code, HOST in forgotten.err) == (0, True)
    assert folder_hosts.all_folders() == {}
