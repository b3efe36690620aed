"""Every tool is tried on a project in memory and on a folder on disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from files_bench import Bench
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace


@pytest.fixture(params=["memory", "disk"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    if request.param == "memory":
        yield Bench(MemoryWorkspace())
        return
    folder = tmp_path / "ws"
    folder.mkdir()
    workspace = DiskWorkspace(folder)
    yield Bench(workspace)
    workspace.close()
