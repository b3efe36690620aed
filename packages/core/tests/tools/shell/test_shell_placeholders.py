"""Placeholders at protected names: several processes in one folder, and processes that are killed."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from shell_bench import Place

from heald.tools.shell.protected_paths import ProtectedPaths
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.placeholders import list_placeholders

RUN = """
import asyncio, sys
from heald.core.messages import ToolCall
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools
from heald.tools.workspace.disk import DiskWorkspace

async def main(folder, command):
    runtime = ToolRuntime(shell_tools(Sandbox()), workspace=DiskWorkspace(folder))
    call = ToolCall(id="1", name="run_command", input={"command": command})
    [result] = await runtime.execute([call], lambda event: None)
    print(result.text)

asyncio.run(main(*sys.argv[1:]))
"""
NAMES = (".envrc", ".git", ".heald", ".mcp.json", ".vscode", "heald.toml")


async def start(folder: Path, name: str, command: str = "true") -> asyncio.subprocess.Process:
    """Start another process whose command waits for the file `end-NAME` and then runs `command`."""
    line = f"touch {name}; while [ ! -e end-{name} ]; do sleep 0.05; done; {command}"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN, str(folder), line, stdout=asyncio.subprocess.PIPE
    )
    while not (folder / name).exists():
        assert process.returncode is None
        await asyncio.sleep(0.02)
    return process


async def end(folder: Path, name: str, process: asyncio.subprocess.Process) -> str:
    (folder / f"end-{name}").touch()
    output, _ = await process.communicate()
    (folder / f"end-{name}").unlink()
    (folder / name).unlink()
    return output.decode()


async def test_the_end_of_one_process_does_not_lift_the_protection_of_another(place: Place):
    attack = "for name in .mcp.json heald.toml .envrc .git/config .vscode/tasks.json; do echo evil > $name; done"
    first = await start(place.folder, "first")
    second = await start(place.folder, "second", attack)
    await end(place.folder, "first", first)
    assert {path.name for path in place.folder.iterdir()} == {*NAMES, "second"}
    assert (await end(place.folder, "second", second)).count("Read-only file system") == 5
    assert list(place.folder.iterdir()) == [], "the last process removes the placeholders"


async def test_what_a_killed_process_leaves_is_removed_when_the_folder_is_opened(place: Place):
    victim = await start(place.folder, "victim")
    other = await start(place.folder, "other")
    victim.kill()
    await victim.wait()
    (place.folder / ".vscode").rmdir()
    (place.folder / ".vscode").mkdir()  # one of the user's, empty as it is
    DiskWorkspace(place.folder).close()
    assert (place.folder / ".mcp.json").exists(), "the other process needs it"
    other.kill()
    await other.wait()
    while list_placeholders(str(place.folder)):  # the sandbox of a killed process ends a moment later
        DiskWorkspace(place.folder).close()
        await asyncio.sleep(0.02)
    assert {path.name for path in place.folder.iterdir()} == {".vscode", "other", "victim"}


def test_what_a_user_wrote_into_a_placeholder_is_not_removed_and_loses_the_mark(tmp_path: Path):
    folder = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    shield = ProtectedPaths(folder)
    os.close(folder)
    assert list_placeholders(str(tmp_path)) == set(NAMES)
    (tmp_path / ".envrc").write_text("mine")
    (tmp_path / ".vscode/tasks.json").write_text("mine")
    assert shield.close() == []
    assert {path.name for path in tmp_path.iterdir()} == {".envrc", ".vscode"}
    assert (tmp_path / ".envrc").stat().st_mode & 0o1000 == 0
    assert list_placeholders(str(tmp_path)) == set()


@pytest.mark.parametrize("text", ["", "mine"])
def test_a_file_of_the_user_stays_and_a_replaced_one_is_reported(tmp_path: Path, text: str):
    (tmp_path / "heald.toml").write_text(text)
    folder = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    ProtectedPaths(folder).close()
    assert [path.name for path in tmp_path.iterdir()] == ["heald.toml"]
    shield = ProtectedPaths(folder)
    os.close(folder)
    (tmp_path / "new").write_text("theirs")
    (tmp_path / "new").rename(tmp_path / "heald.toml")
    [note] = shield.close()
    assert note.startswith("heald.toml was replaced from outside while the command ran")
    assert (tmp_path / "heald.toml").read_text() == "theirs"
