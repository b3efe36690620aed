"""What the file tools say of themselves: resources, subjects, summaries."""

from typing import Any

import pytest

from heald.tools.definitions import Access, Tool
from heald.tools.families import families
from heald.tools.summaries import call_summary

TOOLS = {tool.name: tool for tool in families()["files"]}
PATCH = "*** Begin Patch\n*** Update File: ./a\n*** Move to: b/c\n@@\n-x\n*** Delete File: d\n*** End Patch"


def test_the_tools_there_are() -> None:
    assert list(TOOLS) == [
        *("create_file", "write_file", "edit_file", "apply_patch"),
        *("read_file", "list_files", "glob", "search_files", "find_file"),
    ]
    assert list(families()["read"]) == [tool for tool in families()["files"] if tool.effect == "read"]


def _access(name: str, arguments: dict[str, Any]) -> list[Access]:
    access = TOOLS[name].access
    assert access is not None
    return list(access(arguments))


def _files(*paths: str, changes: bool) -> list[Access]:
    return [Access(resource=f"file:{path}", changes=changes) for path in paths]


@pytest.mark.parametrize("name", ["create_file", "write_file", "edit_file"])
def test_writers_need_their_file(name: str) -> None:
    assert _access(name, {"path": "./a//b"}) == _files("a/b", changes=True)


def test_readers_share_theirs() -> None:
    assert _access("read_file", {"path": "a"}) == _files("a", changes=False)
    assert _access("read_file", {"files": [{"path": "a"}, {"path": "./b"}, {"path": "a"}]}) == _files(
        "a", "b", changes=False
    )
    for name in ("list_files", "glob", "search_files", "find_file"):
        assert _access(name, {}) == _files("", changes=False)


def test_a_patch_needs_all_of_its_files() -> None:
    assert _access("apply_patch", {"patch": PATCH}) == _files("a", "b/c", "d", changes=True)
    assert _access("apply_patch", {"patch": "nonsense"}) == []


@pytest.mark.parametrize("tool", families()["files"], ids=lambda tool: tool.name)
@pytest.mark.parametrize("bad", ["../x", "/etc/passwd", "a\0b", 5, None, ["a"]])
def test_bad_arguments_name_no_resource_and_break_nothing(tool: Tool, bad: object) -> None:
    arguments: dict[str, Any] = {"path": bad, "files": bad, "patch": bad, "pattern": bad, "query": bad, "edits": bad}
    assert tool.access is not None
    assert all(access.resource == "file:" for access in tool.access(arguments))
    if tool.subjects is not None:
        tool.subjects(arguments)
    call_summary(tool, arguments)


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("create_file", {"path": "a.html", "content": "x\ny\n"}, "Write a.html (2 lines)"),
    ("edit_file", {"path": "a", "edits": [{}, {}]}, "Edit a (2 places)"),
    ("edit_file", {"path": "a", "old_text": "x", "new_text": "y"}, "Edit a (1 place)"),
    ("apply_patch", {"patch": PATCH}, "Patch ./a, b/c, d"),
    ("read_file", {"path": "a"}, "Read a"),
    ("read_file", {"files": [{"path": "a"}, {"path": "b"}]}, "Read 2 files: a, b"),
    ("list_files", {}, "List the workspace"),
    ("glob", {"pattern": "*.py"}, "Glob *.py"),
    ("search_files", {"pattern": "x", "path": "src"}, "Search x in src"),
    ("find_file", {"query": "x"}, "Find x"),
]


@pytest.mark.parametrize(("name", "arguments", "summary"), CALLS)
def test_summaries(name: str, arguments: dict[str, Any], summary: str) -> None:
    assert call_summary(TOOLS[name], arguments) == summary
