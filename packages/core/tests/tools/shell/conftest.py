"""A workspace with a canary beside it, and a runtime whose tools run in the real sandbox."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from shell_bench import CANARY, Place

from heald.tools.runtime import ToolRuntime
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools
from heald.tools.workspace.disk import DiskWorkspace


@pytest.fixture
def sandbox() -> Sandbox:
    box = Sandbox()
    reason = box.available()
    if reason is not None:
        pytest.skip(reason)
    return box


@pytest.fixture
def make_place(tmp_path: Path) -> Iterator[Callable[[Sandbox], Place]]:
    folder, outside = tmp_path / "ws", tmp_path / "OUT"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text(CANARY)

    def make(box: Sandbox) -> Place:
        return Place(folder, outside, ToolRuntime(shell_tools(box), workspace=DiskWorkspace(folder)))

    yield make
    assert (outside / "secret.txt").read_text() == CANARY
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]


@pytest.fixture
async def place(sandbox: Sandbox, make_place: Callable[[Sandbox], Place]) -> AsyncIterator[Place]:
    made = make_place(sandbox)
    yield made
    await made.runtime.close()
