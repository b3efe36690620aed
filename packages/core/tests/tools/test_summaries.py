"""What the person who decides on a call is shown of it."""

import pytest

from heald.core.json import JsonObject
from heald.tools.definitions import Tool
from heald.tools.files.edit import edit_file
from heald.tools.files.listing import list_files
from heald.tools.files.patch import apply_patch
from heald.tools.files.write_tools import create_file, write_file
from heald.tools.summaries import describe_call_in_full, describe_change
from heald.tools.workspace.memory import MemoryWorkspace

PATCH = "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"
EDITED = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "diff"),
    [
        (write_file, {"path": "./a.txt", "content": "1\ntwo\n"}, EDITED),
        (create_file, {"path": "b.txt", "content": "new\n"}, "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n"),
        (edit_file, {"path": "a.txt", "old_text": "one", "new_text": "1"}, EDITED),
        (edit_file, {"path": "a.txt", "edits": [{"old_text": "one", "new_text": "1", "count": 1}]}, EDITED),
        (apply_patch, {"patch": PATCH}, PATCH),
        (edit_file, {"path": "a.txt", "old_text": "three", "new_text": "3"}, ""),
        (edit_file, {"path": "../a.txt", "old_text": "one", "new_text": "1"}, ""),
        (write_file, {"path": "a.txt"}, ""),
        (list_files, {"path": ""}, ""),
    ],
)
def test_the_diff_that_a_call_will_make(tool: Tool, arguments: JsonObject, diff: str) -> None:
    workspace = MemoryWorkspace({"a.txt": "one\ntwo\n"})
    assert describe_change(tool, arguments, workspace) == diff
    assert workspace.files() == {"a.txt": "one\ntwo\n"}
    assert not workspace.is_seen("a.txt")  # the model has not read it


def test_nothing_is_hidden_in_a_description() -> None:
    described = describe_call_in_full({"path": "a\nb\u202e", "count": 2, "x: y\n": "\\u202e", "": [{"a": "\r"}]})
    assert described.split("\n") == [
        "path: a",
        "  │ b⟦\\u202e⟧",
        "count: 2",
        '"x: y\\n": \\u202e',
        '"": [{"a":"\\r"}]',
        "! path contains 1 hidden character, written as ⟦…⟧",
    ]


def test_every_argument_is_described_and_a_cut_is_counted() -> None:
    arguments: JsonObject = {f"argument_{number}": "x" * 30_000 for number in range(20)} | {"last": "y"}
    lines = describe_call_in_full(arguments).split("\n")
    assert sum(line.startswith("argument_") for line in lines) == 20
    assert lines.count("  │ ⟦… 20,000 characters left out⟧") == 20
    assert lines[-1] == "last: y"


def test_a_long_diff_is_cut_with_a_count() -> None:
    workspace = MemoryWorkspace({})
    diff = describe_change(write_file, {"path": "a", "content": "line\n" * 12_000}, workspace)
    assert len(diff) < 61_000
    left = int(diff.rpartition("… ")[2].partition(" ")[0].replace(",", ""))
    assert diff.endswith(f"… {left:,} more characters of this diff are left out\n")
    assert describe_change(apply_patch, {"patch": "x" * 70_000}, workspace).endswith(
        "\n… 10,000 more characters of this diff are left out\n"
    )
