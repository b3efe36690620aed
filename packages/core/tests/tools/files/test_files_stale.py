"""What others changed since the model read it is noticed, whatever was looked at in between."""

from pathlib import Path
from typing import Any

import pytest

from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.tools.families import families
from heald.tools.runtime import ToolRuntime
from heald.tools.workspace.disk import DiskWorkspace


class Folder:
    def __init__(self, path: Path) -> None:
        self.file = path / "a.txt"
        self.file.write_text("one\n")
        self.runtime = ToolRuntime(families()["files"], workspace=DiskWorkspace(path))
        self.said: list[Payload] = []

    async def __call__(self, name: str, /, **arguments: Any) -> str:
        (result,) = await self.runtime.execute([ToolCall(id=name, name=name, input=arguments)], self.said.append)
        return result.text


PATCH = "*** Begin Patch\n*** Update File: a.txt\n-two\n+three\n*** End Patch"
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("create_file", {"path": "a.txt", "content": "three\n"}),
    ("write_file", {"path": "./a.txt", "content": "three\n"}),
    ("edit_file", {"path": "a.txt", "old_text": "two", "new_text": "three"}),
    ("apply_patch", {"patch": PATCH}),
]


@pytest.mark.parametrize(("name", "arguments"), WRITES)
@pytest.mark.parametrize(
    "look",
    [None, ("search_files", {"pattern": "t"}), ("edit_file", {"path": "a.txt", "old_text": "no", "new_text": "x"})],
)
async def test_a_change_by_others_is_noticed(
    name: str, arguments: dict[str, Any], look: tuple[str, dict[str, Any]] | None, tmp_path: Path
) -> None:
    at = Folder(tmp_path)
    await at("read_file", path="a.txt")
    at.file.write_text("two\n")
    if look is not None:
        await at(look[0], **look[1])
    said = await at(name, **arguments)
    assert "stale_read" in said
    assert at.file.read_text() == "two\n"
    await at("read_file", path="a.txt")
    await at(name, **arguments)
    assert at.file.read_text() == "three\n"


async def test_what_was_never_read_can_be_edited(tmp_path: Path) -> None:
    at = Folder(tmp_path)
    await at("edit_file", path="a.txt", old_text="one", new_text="1")
    assert at.file.read_text() == "1\n"
