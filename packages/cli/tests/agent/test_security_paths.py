"""P01 to P20: whatever path a model writes into a call, nothing outside the workspace is read, written or named."""

import asyncio
import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from security_support import CANARY, Stage, needs_sandbox, reply_with_calls

from heald.core.events import FileChanged, FilePreview, ToolExecuting
from heald.core.messages import ToolResult
from heald.providers.scripted import ScriptedCall
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.families import named_tools
from heald.tools.shell.sandbox import Sandbox
from log_support import call

OUTSIDE = [
    "../OUT/secret.txt",
    "sub/../../OUT/secret.txt",
    "./.././OUT//secret.txt",
    "/etc/passwd",
    "/tmp/heald-pwn",
    "//etc/passwd",
    "~/x",
    "C:/x",
    "C:\\x",
    "..\\OUT\\secret.txt",
    "link",
    "link/secret.txt",
    "link/w",
    "link/deep/w",
    "near/secret.txt",
    "file_link",
    "dangling",
    "good_link/../../OUT/secret.txt",
    "good_link/../link/secret.txt",
    "ok.txt\u0000../../etc/passwd",
    "a\u0000.txt",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/fd/3",
    "/dev/stdin",
    "../../../app/static/poc.js",
    "..%2fOUT%2fsecret.txt/../../OUT/secret.txt",
]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def reads(path: str) -> list[ScriptedCall]:
    return [
        call("read_file", path=path),
        call("read_file", files=[{"path": path}, {"path": path, "start_line": 1}]),
        call("list_files", path=path),
        call("search_files", pattern=".", path=path),
    ]


def writes(path: str) -> list[ScriptedCall]:
    begin, end = "*** Begin Patch\n", "\n*** End Patch"
    return [
        call("create_file", path=path, content="new"),
        call("write_file", path=path, content="new"),
        call("edit_file", path=path, edits=[{"old_text": "old", "new_text": "new"}]),
        call("apply_patch", patch=f"{begin}*** Update File: {path}\n@@\n-old\n+new{end}"),
        call("apply_patch", patch=f"{begin}*** Add File: {path}\n+new{end}"),
        call("apply_patch", patch=f"{begin}*** Delete File: {path}{end}"),
        call("apply_patch", patch=f"{begin}*** Update File: ok.txt\n*** Move to: {path}\n@@\n-old\n+new{end}"),
        call("apply_patch", patch=f"--- {path}\n+++ {path}\n@@ -2 +2 @@\n-old\n+new\n"),
    ]


def runs(path: str) -> list[ScriptedCall]:
    return [call("run_command", command="true", cwd=path), call("run_command", command="ls", cwd=path, background=True)]


def refused(results: list[ToolResult]) -> bool:
    return all(result.is_error and result.status in ("error", "invalid_input") for result in results)


def test_every_tool_that_has_a_path_is_in_the_matrix() -> None:
    """A tool that is added with a path of its own belongs into the tests below."""
    taking = {
        tool.name
        for tool in named_tools(["all"], Sandbox())
        if {"path", "paths", "files", "file", "cwd", "patch", "folder", "name"}
        & set(tool.definition.input_schema["properties"])
    }
    assert taking == {made.name for made in (*reads("x"), *writes("x"), *runs("x"))}


@pytest.mark.parametrize("path", OUTSIDE)
async def test_p19_the_matrix(stage: Stage, path: str) -> None:
    played = await stage.play([*reads(path), *writes(path), *runs(path)], "Done.")
    for result in played.results:
        assert refused([result]), (result.name, result.text)
    assert str(stage.folder) not in played.stored_text
    assert played.log.of(FileChanged) == []
    assert (stage.inside / "ok.txt").read_text() == "fine\nold\n"
    assert "heald-pwn" not in os.listdir("/tmp")


@pytest.mark.parametrize("path", ["../OUT/secret.txt", "link/secret.txt", "/etc/passwd", "file_link"])
async def test_p01_the_kind_of_refusal_is_reported(stage: Stage, path: str) -> None:
    for result in await stage.calls(*writes(path)[:3], reads(path)[0]):
        assert result.text.startswith("path_outside_workspace: "), result.text


@pytest.mark.parametrize("path", ["../OUT/secret.txt", "link/secret.txt", "file_link"])
async def test_no_preview_shows_a_file_outside(stage: Stage, path: str) -> None:
    """While an edit is still being written, its file is read for the preview: through the same resolver."""
    edit = call("edit_file", path=path, edits=[{"old_text": "old", "new_text": "new " * 50}])
    played = await stage.play([edit], "Done.", piece=5)
    assert [preview.text for preview in played.log.of(FilePreview)] == []


async def test_p04_links_that_stay_inside_work(stage: Stage) -> None:
    results = await stage.calls(
        call("read_file", path="good_link/inner.txt"),
        call("edit_file", path="good_link/inner.txt", old_text="old", new_text="new"),
        call("list_files", path="good_link"),
    )
    assert [result.status for result in results] == ["ok", "ok", "ok"]
    assert (stage.inside / "sub" / "inner.txt").read_text() == "inner\nnew\n"


async def test_p04_looks_over_all_files_do_not_escape(stage: Stage) -> None:
    results = await stage.calls(
        call("search_files", pattern="CANARY|old", context=3),
        call("list_files", depth=20),
        call("find_file", query="secret"),
        call("glob", pattern="**"),
    )
    for result in results:
        assert result.status == "ok"
        assert "secret.txt" not in result.text


SWAP = """
import ctypes, os, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
a, b = (os.fsencode(name) for name in sys.argv[1:])
if exchange(-100, a, -100, b, 2):
    sys.exit("this system cannot exchange two names")
print("ready", flush=True)
while os.getppid() != 1:
    exchange(-100, a, -100, b, 2)
"""


async def test_p07_a_folder_that_turns_into_a_link_while_the_agent_writes(stage: Stage) -> None:
    (stage.inside / "d").mkdir()
    attacker = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", SWAP, str(stage.inside / "d"), str(stage.inside / "near")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert attacker.stdout is not None
        if await asyncio.to_thread(attacker.stdout.readline) != "ready\n":
            pytest.skip("this system cannot exchange two names at once")
        turns = [
            [
                made
                for n in range(8)
                for made in (
                    call("write_file", path=f"d/f{turn}-{n}.txt", content=f"{turn} {n}"),
                    call("read_file", path="d/secret.txt"),
                )
            ]
            for turn in range(15)
        ]
        played = await stage.play(*turns, "Done.", tools=["files"])
    finally:
        attacker.kill()
        attacker.communicate()
    assert len(played.results) == 240
    assert {result.status for result in played.results} <= {"ok", "error"}


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".g\u200cit/config",
        "\uff0egit/config",
        ".git./config",
        ".git::$INDEX_ALLOCATION/config",
        "git~1/config",
        ".GIT/hooks/post-checkout",
        "sub/.git/hooks/pre-commit",
        ".agent/settings.json",
        ".heald/settings.json",
        ".claude/settings.json",
        "heald.toml",
        "AGENTS.md",
        ".mcp.json",
        ".envrc",
        ".vscode/tasks.json",
        "good_link/AGENTS.md",
    ],
)
async def test_p10_p11_what_configures_others_is_not_written(stage: Stage, path: str) -> None:
    played = await stage.play(writes(path), "Done.", tools=["files"])
    assert refused(played.results), [result.text for result in played.results]
    assert played.log.of(FileChanged) == []
    assert sorted(os.listdir(stage.inside)) == sorted(
        ["ok.txt", "sub", "link", "near", "file_link", "dangling", "good_link"]
    )


async def test_p10_nor_through_a_link_to_it(stage: Stage) -> None:
    (stage.inside / ".git").mkdir()
    (stage.inside / ".git" / "config").write_text("[core]\nold\n")
    (stage.inside / "harmless").symlink_to(".git")
    (stage.inside / "notes.txt").symlink_to(".git/config")
    for path in ("harmless/config", "harmless/hooks/pre-commit", "notes.txt"):
        assert refused(await stage.calls(*writes(path), tools=["files"])), path
    assert (stage.inside / ".git" / "config").read_text() == "[core]\nold\n"
    assert os.listdir(stage.inside / ".git") == ["config"]


async def test_p13_links_to_the_kernels_files(stage: Stage) -> None:
    for name, target in {
        "env": "/proc/self/environ",
        "in": "/dev/stdin",
        "fd": "/proc/self/fd",
        "zero": "/dev/zero",
    }.items():
        (stage.inside / name).symlink_to(target)
    for path in ("env", "in", "fd/0", "zero"):
        assert refused(await stage.calls(*reads(path), *writes(path), tools=["files"])), path


async def test_p14_pipes_and_sockets_hang_nothing(stage: Stage) -> None:
    os.mkfifo(stage.inside / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("../WS/socket")  # from the working folder: names of sockets must be short
        listening.listen()
        for path in ("pipe", "socket"):
            async with asyncio.timeout(60):
                results = await stage.calls(*reads(path)[:1], *writes(path)[:3], tools=["files"])
            assert [result.text.partition(":")[0] for result in results] == ["not_a_regular_file"] * 4
        (match,) = await stage.calls(call("search_files", pattern="fine"), tools=["files"])
        assert match.text.startswith("ok.txt:1: fine")


async def test_p16_a_hard_link_keeps_its_other_name(stage: Stage) -> None:
    other = stage.elsewhere / "other.txt"
    other.write_text("theirs old\n")
    for number, made in enumerate(writes("hard")[:4]):
        (stage.inside / "hard").unlink(missing_ok=True)
        os.link(other, stage.inside / "hard")
        (result,) = await stage.calls(made, tools=["files"])
        assert result.status in ("ok", "error"), number
        assert other.read_text() == "theirs old\n"


async def test_p17_modes_stay_and_nothing_temporary_is_left(stage: Stage) -> None:
    modes = {"private.txt": 0o600, "script.sh": 0o755}
    for name, mode in modes.items():
        (stage.inside / name).write_text("old\n")
        (stage.inside / name).chmod(mode)
    before = set(os.listdir(stage.inside)), set(os.listdir("/tmp"))
    await stage.calls(
        call("edit_file", path="private.txt", old_text="old", new_text="new"),
        call("read_file", path="script.sh"),
        call("write_file", path="script.sh", content="new\n"),
        tools=["files"],
    )
    for name, mode in modes.items():
        assert (stage.inside / name).read_text() == "new\n"
        assert stat.S_IMODE((stage.inside / name).stat().st_mode) == mode
    assert set(os.listdir(stage.inside)) == before[0]
    assert not [name for name in set(os.listdir("/tmp")) - before[1] if "private" in name or "script" in name]


async def test_the_matrix_in_the_command(stage: Stage) -> None:
    """The same through `heald run --json`, as a process of its own."""
    paths = ["../OUT/secret.txt", "/etc/passwd", "link/secret.txt", "near/w", "dangling", "/proc/self/environ"]
    made = [(c.name, c.input) for path in paths for c in (*reads(path), *writes(path), *runs(path))]
    async with ScriptedServer([reply_with_calls(*made), wire_reply("chat", text="Done.")]) as server:
        ran = await stage.heald(server, "--workspace", str(stage.inside), "--permissions", "auto", "--json")
        sent = server.requests[1].content.decode()
    assert ran.code == 0, ran.err
    stage.prove(ran)
    results = [event.data for event in ran.events if isinstance(event.data, ToolResult)]
    assert len(results) == len(made)
    assert refused(results)
    assert CANARY not in sent
    assert str(stage.folder) not in sent


async def test_the_working_folder_of_a_command_is_inside(stage: Stage) -> None:
    """S02: cwd is a path like others, and never widens what may be written."""
    needs_sandbox()
    results = await stage.calls(
        call("run_command", command="pwd; echo x > made", cwd="sub"),
        call("run_command", command="pwd", cwd="good_link"),
        call("run_command", command="cd / && echo x > made"),
        call("run_command", command="cd .. && ls OUT && echo x > OUT/made"),
        tools=["shell"],
    )
    assert "/workspace/sub" in results[0].text
    assert (stage.inside / "sub" / "made").exists()
    assert all("exit code 0" not in result.text for result in results[2:])


async def test_events_name_a_path_in_its_one_spelling(stage: Stage) -> None:
    """What is announced of a call is in the one spelling of its path."""
    played = await stage.play(
        [call("write_file", path="./sub//../sub/x", content="1"), call("write_file", path="./a//b.txt", content="1")],
        "Done.",
    )
    started = [(event.name, event.resources) for event in played.log.of(ToolExecuting)]
    assert ("write_file", ["file:a/b.txt"]) in started
    assert [change.path for change in played.log.of(FileChanged)] == ["a/b.txt"]
