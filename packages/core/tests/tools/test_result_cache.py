"""Results of pure tools are kept for as long as the files they read are what they were."""

from tool_bench import Bench

import heald
from heald.tools.function_tools import tool
from heald.tools.result_cache import ResultCache
from heald.tools.workspace.memory import MemoryWorkspace

runs: list[str] = []


@tool(pure=True)
async def length(path: str, ctx: heald.ToolContext) -> int:
    """The length of a file."""
    runs.append(path)
    return len(ctx.workspace.read_text(path)) if ctx.workspace.exists(path) else -1


@tool(pure=True)
async def names(ctx: heald.ToolContext) -> str:
    """The names of all files."""
    runs.append("names")
    return " ".join(entry.path for entry in ctx.workspace.list("", depth=None))


def bench(size: int = 10) -> Bench:
    runs.clear()
    return Bench(length, names, workspace=MemoryWorkspace({"a": "one", "b": "two!"}), cache=ResultCache(size))


async def test_the_same_question_is_answered_once() -> None:
    at = bench()
    assert [(await at.one("length", path="a")).content for _ in range(3)] == ["3"] * 3
    assert (await at.one("length", path="b")).content == "4"
    assert runs == ["a", "b"]


async def test_a_file_that_changed_is_reread() -> None:
    at = bench()
    await at.one("length", path="a")
    at.runtime.workspace.write("b", "other", on_change=lambda _: None)
    await at.one("length", path="a")
    assert runs == ["a"]
    at.runtime.workspace.write("a", "longer", on_change=lambda _: None)
    assert (await at.one("length", path="a")).content == "6"
    assert runs == ["a", "a"]


async def test_files_that_come_and_go_are_noticed() -> None:
    at = bench()
    assert (await at.one("length", path="c")).content == "-1"
    assert (await at.one("names")).content == "a b"
    at.runtime.workspace.write("c", "new", on_change=lambda _: None)
    assert (await at.one("length", path="c")).content == "3"
    assert (await at.one("names")).content == "a b c"


async def test_the_oldest_goes_when_it_is_full() -> None:
    at = bench(size=1)
    for path in ("a", "b", "a"):
        await at.one("length", path=path)
    assert runs == ["a", "b", "a"]


async def test_without_a_cache_nothing_is_kept() -> None:
    runs.clear()
    at = Bench(length, workspace=MemoryWorkspace({"a": "one"}))
    await at.one("length", path="a")
    await at.one("length", path="a")
    assert runs == ["a", "a"]
