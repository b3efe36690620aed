"""Attackers that never sleep, and writers that are killed."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.paths import PathFault

WRITES = 5000

# renameat2 has no number that holds everywhere, so the C library is asked; musl has it since 1.2.6.
SWAP = """
import ctypes, os, sys
rename = ctypes.CDLL(None, use_errno=True).renameat2
a, b = (os.fsencode(name) for name in sys.argv[1:])
if rename(-100, a, -100, b, 2):
    sys.exit(f"cannot exchange: {os.strerror(ctypes.get_errno())}")
print("ready", flush=True)
while os.getppid() != 1:
    rename(-100, a, -100, b, 2)
"""

WRITER = """
import sys
from heald.tools.workspace.disk import DiskWorkspace
workspace = DiskWorkspace(sys.argv[1])
contents = b"a" * 200_000, b"b" * 300_000
print("ready", flush=True)
while True:
    for content in contents:
        workspace.write("file", content, on_change=id)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where that is possible: an attacker is not slowed down by a disk, and neither is the test."""
    made = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    yield made
    shutil.rmtree(made)


def started(code: str, *arguments: str | Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    if process.stdout.readline() != "ready\n":
        _, errors = process.communicate()
        pytest.skip(f"there is no attacker on this system: {errors.strip().splitlines()[-1:]}")
    return process


def stop(process: "subprocess.Popen[str]") -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("openat2", [True, False], ids=["openat2", "by name"])
@pytest.mark.parametrize("absolute", [True, False], ids=["absolute link", "relative link"])
def test_no_write_escapes_through_a_folder_that_turns_into_a_link(folder: Path, openat2: bool, absolute: bool) -> None:
    inside, outside = folder / "WS", folder / "OUT"
    (inside / "d").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("CANARY")
    (inside / "other").symlink_to(outside if absolute else "../OUT")
    attacker = started(SWAP, inside / "d", inside / "other")
    workspace = DiskWorkspace(inside, openat2=openat2)
    written = refused = 0
    try:
        for number in range(WRITES // 2):
            name = f"d/{'deep/' * (number % 2)}{number % 50}"
            try:
                workspace.write(name, f"{number}", on_change=id)
                written += 1
            except PathFault as fault:
                refused += 1
                if fault.kind == "stale_read":
                    _quietly_read(workspace, name)
            assert b"CANARY" not in _quietly_read(workspace, "d/secret")
            _quietly_list(workspace)
    finally:
        stop(attacker)
        workspace.close()
    assert os.listdir(outside) == ["secret"]
    assert sorted(os.listdir(folder)) == ["OUT", "WS"]
    assert (outside / "secret").read_text() == "CANARY"
    assert written > 50
    assert refused > 50
    assert [path for path in inside.rglob("*.tmp") if not path.is_symlink()] == []


def _quietly_read(workspace: DiskWorkspace, path: str) -> bytes:
    try:
        return workspace.read(path)
    except PathFault:
        return b""


def _quietly_list(workspace: DiskWorkspace) -> None:
    try:
        names = [entry.path for entry in workspace.list("d", depth=None)]
    except PathFault:
        return
    assert "d/secret" not in names


@pytest.mark.parametrize("openat2", [True, False], ids=["openat2", "by name"])
def test_no_write_escapes_through_a_file_that_turns_into_a_link(folder: Path, openat2: bool) -> None:
    inside, outside = folder / "WS", folder / "OUT"
    inside.mkdir()
    outside.mkdir()
    (outside / "victim").write_text("untouched")
    (inside / "f").write_text("file")
    (inside / "other").symlink_to(outside / "victim")
    attacker = started(SWAP, inside / "f", inside / "other")
    workspace = DiskWorkspace(inside, openat2=openat2)
    try:
        for number in range(WRITES // 5):
            try:
                workspace.write("f", f"{number}", on_change=id)
            except PathFault:
                assert _quietly_read(workspace, "f") != b"untouched"
    finally:
        stop(attacker)
        workspace.close()
    assert (outside / "victim").read_text() == "untouched"
    assert os.listdir(outside) == ["victim"]


def test_a_killed_writer_keeps_a_whole_file(folder: Path) -> None:
    wholes = (b"a" * 200_000, b"b" * 300_000)
    chance = random.Random(7)
    file = folder / "file"
    for _ in range(15):
        writer = started(WRITER, folder)
        while not file.exists():  # the first file takes as long as the machine needs
            time.sleep(0.001)
        deadline = time.monotonic() + 0.02 + chance.random() * 0.03
        while time.monotonic() < deadline:
            assert file.read_bytes() in wholes
        stop(writer)
        assert file.read_bytes() in wholes
    workspace = DiskWorkspace(folder)
    assert [entry.path for entry in workspace.list()] == ["file"]
    workspace.close()
