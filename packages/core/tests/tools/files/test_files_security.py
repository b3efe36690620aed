"""P01 to P05, P14 and P19: every file tool, and nothing outside the workspace is read, written or shown."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from files_bench import Bench, Outcome, previewed
from heald.tools.definitions import Tool
from heald.tools.families import families
from heald.tools.files.edit import edit_file
from heald.tools.files.listing import find_file, glob, list_files
from heald.tools.files.patch import apply_patch
from heald.tools.files.read_tool import read_file
from heald.tools.files.search import search_files
from heald.tools.files.write_tools import create_file, write_file
from heald.tools.workspace.disk import DiskWorkspace

CANARY = "CANARY-7f3a"


@dataclass(frozen=True)
class Place:
    bench: Bench
    inside: Path
    outside: Path

    def untouched(self) -> bool:
        """Outside is as it was."""
        names = {path.name for path in self.outside.iterdir()}
        return names == {"secret.txt"} and (self.outside / "secret.txt").read_text() == f"{CANARY}\nold\n"


@pytest.fixture(params=[True, False], ids=["openat2", "by name"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    inside, outside = tmp_path / "WS", tmp_path / "OUT"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text(f"{CANARY}\nold\n")
    (inside / "ok.txt").write_text("fine\nold\n")
    (inside / "sub").mkdir()
    (inside / "sub" / "inner.txt").write_text("inner\nold\n")
    (inside / "link").symlink_to(outside)
    (inside / "file_link").symlink_to(outside / "secret.txt")
    (inside / "dangling").symlink_to(outside / "new")
    (inside / "good_link").symlink_to("sub")
    workspace = DiskWorkspace(inside, openat2=request.param)
    yield Place(Bench(workspace), inside, outside)
    workspace.close()


def _calls(path: str) -> list[tuple[Tool, dict[str, Any]]]:
    """Every tool that takes a path, at this one."""
    update = f"*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+new\n*** End Patch"
    add = f"*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch"
    delete = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch"
    move = f"*** Begin Patch\n*** Update File: ok.txt\n*** Move to: {path}\n@@\n-old\n+new\n*** End Patch"
    unified = f"--- {path}\n+++ {path}\n@@ -2 +2 @@\n-old\n+new\n"
    return [
        (create_file, {"path": path, "content": "new"}),
        (write_file, {"path": path, "content": "new"}),
        (edit_file, {"path": path, "edits": [{"old_text": "old", "new_text": "new"}]}),
        *((apply_patch, {"patch": patch}) for patch in (update, add, delete, move, unified)),
        (read_file, {"path": path}),
        (read_file, {"files": [{"path": path}, {"path": path, "start_line": 1}]}),
        (list_files, {"path": path}),
        (search_files, {"pattern": ".", "path": path}),
    ]


OUTSIDE = [
    "../OUT/secret.txt",
    "sub/../../OUT/secret.txt",
    "/etc/passwd",
    "/tmp/heald-pwn",
    "link/secret.txt",
    "link/w",
    "link/deep/w",
    "link",
    "file_link",
    "dangling",
    "good_link/../../OUT/secret.txt",
    "~/x",
    "C:\\x",
    "..\\OUT\\secret.txt",
    "ok.txt\0../../etc/passwd",
    "/proc/self/environ",
    "/dev/stdin",
]


def _outcome_text(outcome: Outcome) -> str:
    return repr((outcome.text, outcome.summary, outcome.changes, outcome.images))


@pytest.mark.parametrize("path", OUTSIDE)
async def test_p01_to_p05_for_every_tool(place: Place, path: str) -> None:
    for tool, arguments in _calls(path):
        done = await place.bench.run(tool, **arguments)
        told = _outcome_text(done)
        assert done.is_error, (tool.name, arguments, told)
        assert CANARY not in told
        assert str(place.inside.parent) not in told
        assert not done.changes
        assert place.untouched()
        assert (place.inside / "ok.txt").read_text() == "fine\nold\n"
    assert "heald-pwn" not in os.listdir("/tmp")


@pytest.mark.parametrize("path", OUTSIDE)
def test_previews_show_nothing_of_it(place: Place, path: str) -> None:
    for tool, arguments in _calls(path):
        if tool.preview is not None and tool is edit_file:
            edits = {"path": path, "edits": [{"old_text": "old", "new_text": "new"}]}
            assert previewed(tool.preview(place.bench.workspace), edits, [5, 30]) == []
            assert arguments == edits


async def test_links_that_stay_inside_work(place: Place) -> None:
    assert "inner" in (await place.bench.run(read_file, path="good_link/inner.txt")).text
    done = await place.bench.run(edit_file, path="good_link/inner.txt", old_text="old", new_text="new")
    assert not done.is_error
    assert (place.inside / "sub/inner.txt").read_text() == "inner\nnew\n"
    assert "good_link/inner.txt" in (await place.bench.run(list_files, path="good_link")).text
    done = await place.bench.run(search_files, pattern="inner", path="good_link")
    assert done.lines == ["good_link/inner.txt:1: inner"]


@pytest.mark.parametrize("pattern", ["**", "**/*", "link/*", "link/**", "*secret*", "{link,sub}/*", "[l]ink/*"])
async def test_r04_globs_stay_inside(place: Place, pattern: str) -> None:
    done = await place.bench.run(glob, pattern=pattern)
    assert "secret" not in done.text
    assert CANARY not in done.text


@pytest.mark.parametrize("pattern", ["../**", "/**", "**/../../**", "link/../../OUT/*"])
async def test_r04_globs_that_escape_are_refused(place: Place, pattern: str) -> None:
    assert (await place.bench.run(glob, pattern=pattern)).kind == "invalid_pattern"
    assert (await place.bench.run(search_files, pattern=".", glob=pattern)).kind == "invalid_pattern"


async def test_whole_looks_do_not_follow_links(place: Place) -> None:
    for tool, arguments in (
        (search_files, {"pattern": "CANARY|old"}),
        (search_files, {"pattern": ".", "context": 5}),
        (list_files, {"depth": 20}),
        (find_file, {"query": "secret"}),
        (glob, {"pattern": "**"}),
    ):
        done = await place.bench.run(tool, **arguments)
        assert CANARY not in done.text
        assert "secret" not in done.text
        assert not done.is_error


@pytest.mark.parametrize("tool", families()["files"], ids=lambda tool: tool.name)
async def test_p14_pipes_and_sockets_hang_nothing(place: Place, tool: Tool) -> None:
    os.mkfifo(place.inside / "pipe")
    for called, arguments in _calls("pipe"):
        if called is tool and called not in (list_files, search_files):
            done = await place.bench.run(called, **arguments)
            assert done.is_error
    if tool is search_files:
        assert not (await place.bench.run(search_files, pattern="old")).is_error


@pytest.mark.parametrize(
    "path", [".git/config", ".g\u200cit/config", ".heald/x", "AGENTS.md", "sub/.git/hooks/x", ".GIT/x"]
)
async def test_protected_files_are_not_written(place: Place, path: str) -> None:
    for tool, arguments in _calls(path):
        if tool.effect == "write":
            done = await place.bench.run(tool, **arguments)
            assert done.is_error, (tool.name, arguments)
            assert not done.changes
    assert not (place.inside / ".git").exists()


async def test_p16_a_hard_link_keeps_its_other_name(place: Place) -> None:
    os.link(place.outside / "secret.txt", place.inside / "hard")
    await place.bench.run(edit_file, path="hard", old_text="old", new_text="new")
    assert place.untouched()
