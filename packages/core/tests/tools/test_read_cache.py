"""With a cache, equal reads are one read, and nothing that changed a file goes unnoticed."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tool_bench import Bench, call

import heald
from heald.core.events import ToolCompleted
from heald.sessions import Sessions, SqliteStore
from heald.tools.families import named_tools
from heald.tools.result_cache import ResultCache
from heald.tools.watched_workspace import WatchedWorkspace
from heald.tools.workspace.base import Workspace
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace

S = heald.testing.ScriptedModel
FILES = {"a.txt": "alpha\nbeta\n", "src/b.py": "import os\n", "src/deep/c.py": "print('alpha')\n"}
READS: list[tuple[str, dict[str, Any]]] = [
    ("read_file", {"path": "a.txt"}),
    ("read_file", {"files": [{"path": "a.txt", "start_line": 2}, {"path": "missing"}]}),
    ("list_files", {}),
    ("glob", {"pattern": "**/*.py"}),
    ("find_file", {"query": "bpy"}),
    ("search_files", {"pattern": "alpha"}),
]


def workspace_of(kind: str, tmp_path: Path) -> Workspace:
    if kind == "memory":
        return MemoryWorkspace(FILES)
    for name, text in FILES.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return DiskWorkspace(tmp_path / "site")


@pytest.fixture(params=["memory", "disk"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(*named_tools(["files"]), workspace=workspace_of(request.param, tmp_path), cache=ResultCache())


def cached(bench: Bench) -> list[bool]:
    return [payload.cached for payload in bench.said if isinstance(payload, ToolCompleted)]


@pytest.fixture
def old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files whose times are far enough in the past for their identity to count."""
    monkeypatch.setattr("heald.tools.workspace.disk._CLOCK_STEP_NS", 0)


@pytest.mark.parametrize(("name", "arguments"), READS, ids=[name for name, _ in READS])
async def test_an_equal_read_is_one_read(bench: Bench, name: str, arguments: dict[str, Any]) -> None:
    first = await bench.one(name, **arguments)
    second = await bench.one(name, **arguments)
    assert cached(bench) == [False, True]
    assert first.content == second.content
    await bench.one("write_file", path="src/new_alpha.py", content="b.py alpha\n")
    await bench.one("write_file", path="a.txt", content="gamma\nalpha\nalpha\n")
    third = await bench.one(name, **arguments)
    assert cached(bench)[-1] is False
    assert third.content != first.content or name == "find_file"


@pytest.mark.parametrize("name", ["read_file", "search_files"])
async def test_the_identity_of_a_file_saves_its_reading(
    name: str, tmp_path: Path, old_files: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = workspace_of("disk", tmp_path)
    bench = Bench(*named_tools(["files"]), workspace=workspace, cache=ResultCache())
    arguments = {"path": "a.txt"} if name == "read_file" else {"pattern": "alpha"}
    first = await bench.one(name, **arguments)
    read: Callable[[DiskWorkspace, str, int], bytes] = DiskWorkspace._read  # pyright: ignore[reportPrivateUsage]
    reads: list[str] = []

    def counting(self: DiskWorkspace, path: str, limit: int) -> bytes:
        reads.append(path)
        return read(self, path, limit)

    monkeypatch.setattr(DiskWorkspace, "_read", counting)
    assert (await bench.one(name, **arguments)).content == first.content
    assert cached(bench) == [False, True]
    assert [path for path in reads if not path.endswith(".gitignore")] == []


def _in_place(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"ALPHA")


def _same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("ALPHA\nbeta\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replaced(path: Path) -> None:
    other = path.with_name("other")
    other.write_text("ALPHA\nbeta\n")
    shutil.copystat(path, other)
    other.rename(path)


@pytest.mark.parametrize("change", [_in_place, _same_size_and_time, _replaced, Path.unlink])
@pytest.mark.parametrize("is_old", [True, False])
async def test_a_change_from_outside_is_noticed(
    change: Callable[[Path], None], is_old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = workspace_of("disk", tmp_path)
    bench = Bench(*named_tools(["files"]), workspace=workspace, cache=ResultCache())
    path = tmp_path / "site" / "a.txt"
    if is_old:
        monkeypatch.setattr("heald.tools.workspace.disk._CLOCK_STEP_NS", 0)
        tick = time.clock_getres(time.CLOCK_REALTIME) * 1e9 + 20_000_000  # more than a step of its clock
        while time.time_ns() - path.stat().st_ctime_ns < tick:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    before = [await bench.one(name, **arguments) for name, arguments in READS]
    change(path)
    after = [await bench.one(name, **arguments) for name, arguments in READS]
    assert before[0].content != after[0].content
    assert before[1].content == after[1].content or change is Path.unlink
    assert before[5].content != after[5].content


async def test_a_command_that_writes_is_noticed(tmp_path: Path) -> None:
    workspace = workspace_of("disk", tmp_path)
    bench = Bench(*named_tools(["files"]), workspace=workspace, cache=ResultCache())
    await bench.one("search_files", pattern="needle")
    script = "mkdir -p x/y && echo a needle > x/y/z.txt"
    process = await asyncio.create_subprocess_exec("sh", "-c", script, cwd=tmp_path / "site")
    assert await process.wait() == 0
    assert (await bench.one("search_files", pattern="needle")).text == "x/y/z.txt:1: a needle"
    assert "x/y/z.txt" in (await bench.one("glob", pattern="*.txt")).text


async def test_a_link_that_is_changed_is_noticed(tmp_path: Path, old_files: None) -> None:
    workspace = workspace_of("disk", tmp_path)
    bench = Bench(*named_tools(["files"]), workspace=workspace, cache=ResultCache())
    link = tmp_path / "site" / "link"
    link.symlink_to("a.txt")
    assert "alpha" in (await bench.one("read_file", path="link")).text
    link.unlink()
    link.symlink_to("src/b.py")
    assert "import os" in (await bench.one("read_file", path="link")).text


async def test_a_cached_read_counts_as_seen_for_a_later_write(tmp_path: Path) -> None:
    """The model saw the content as it is now, so that its write is not refused as stale."""
    workspace = workspace_of("disk", tmp_path)
    bench = Bench(*named_tools(["files"]), workspace=workspace, cache=ResultCache())
    path = tmp_path / "site" / "a.txt"
    await bench.one("read_file", path="a.txt")
    path.write_text("other\n")
    await bench.one("read_file", path="a.txt", start_line=1)
    path.write_text(FILES["a.txt"])
    assert "alpha" in (await bench.one("read_file", path="a.txt")).text
    assert cached(bench)[-1] is True
    assert (await bench.one("write_file", path="a.txt", content="mine\n")).status == "ok"


async def test_equal_reads_of_one_message_are_one_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    read = WatchedWorkspace.read

    def counting(self: WatchedWorkspace, path: str, **options: Any) -> bytes:
        reads.append(path)
        return read(self, path, **options)

    monkeypatch.setattr(WatchedWorkspace, "read", counting)
    results = await bench.run(*(call("read_file", f"c{number}", path="a.txt") for number in range(5)))
    assert {result.text for result in results} == {results[0].text}
    assert reads == ["a.txt"]
    assert sorted(cached(bench)) == [False, True, True, True, True]


async def test_a_failed_read_does_not_hold_up_an_equal_one(bench: Bench) -> None:
    results = await bench.run(*(call("search_files", f"c{number}", pattern="(") for number in range(3)))
    assert {result.status for result in results} == {"error"}


async def test_a_search_that_ran_out_of_time_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heald.tools.files.listing.Deadline.passed", property(lambda _: True))
    await bench.one("search_files", pattern="alpha")
    monkeypatch.undo()
    assert "alpha" in (await bench.one("search_files", pattern="alpha")).text
    assert cached(bench) == [False, False]


async def test_without_the_setting_every_read_is_one(tmp_path: Path) -> None:
    bench = Bench(*named_tools(["files"]), workspace=workspace_of("disk", tmp_path))
    for _ in range(2):
        await bench.one("read_file", path="a.txt")
    assert cached(bench) == [False, False]


async def test_the_setting_of_an_agent_and_of_a_stored_session(tmp_path: Path) -> None:
    twice = [[S.call("read_file", path="a.txt")], [S.call("read_file", path="a.txt")], "Done."]
    agent = heald.Agent(S(twice), tools=["read"], workspace=workspace_of("memory", tmp_path), cache=True)
    events = [event.data async for event in agent.stream("Go.")]
    assert [payload.cached for payload in events if isinstance(payload, ToolCompleted)] == [False, True]

    store = SqliteStore(tmp_path / "sessions.db")
    workspace_of("disk", tmp_path).close()
    info = await Sessions(store).create(model="m", tools=["read"], workspace=str(tmp_path / "site"), cache=True)
    async with await Sessions(store).open(info.id, model=S(twice)) as session:
        events = [event.data async for event in session.stream("Go.")]
    assert [payload.cached for payload in events if isinstance(payload, ToolCompleted)] == [False, True]
    await store.close()


async def test_what_ripgrep_passed_over_is_noticed_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ripgrep reads files by itself. Here it is stood in for, since not every machine has it."""
    site = tmp_path / "site"

    def candidates(_: object, pattern: str, path: str, **options: object) -> list[str]:
        files = [file for file in (site / path).rglob("*") if file.is_file() and pattern in file.read_text()]
        return [str(file.relative_to(site)) for file in files]

    monkeypatch.setattr("heald.tools.files.ripgrep.Ripgrep.candidates", candidates)
    bench = Bench(*named_tools(["files"]), workspace=workspace_of("disk", tmp_path), cache=ResultCache())
    assert (await bench.one("search_files", pattern="alpha")).text.count("alpha") == 2
    await bench.one("search_files", pattern="alpha")
    assert cached(bench) == [False, True]
    (site / "src" / "b.py").write_text("alpha too\n")
    assert "src/b.py:1: alpha too" in (await bench.one("search_files", pattern="alpha")).text
    (site / "src" / "fresh.py").write_text("alpha as well\n")
    assert "src/fresh.py:1: alpha as well" in (await bench.one("search_files", pattern="alpha")).text
    assert cached(bench) == [False, True, False, False]


async def test_a_text_that_was_searched_in_part_is_not_kept(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(scan: Any) -> list[tuple[int, int]]:
        scan.cut = True
        return []

    monkeypatch.setattr("heald.tools.files.search.Scan._matches", cut_short)
    await bench.one("search_files", pattern="alpha")
    monkeypatch.undo()
    assert "alpha" in (await bench.one("search_files", pattern="alpha")).text
    assert cached(bench) == [False, False]
