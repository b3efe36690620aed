"""A file that was never read is not replaced."""

from pathlib import Path

import heald
from heald.core.messages import ToolResult

S = heald.testing.ScriptedModel


async def results(folder: Path, *calls: object) -> list[ToolResult]:
    agent = heald.Agent(S([[call] for call in calls] + ["Done."]), tools=["files"], workspace=folder)  # pyright: ignore
    tool_results: list[ToolResult] = []
    agent.subscribe(lambda event: tool_results.append(event.data) if isinstance(event.data, ToolResult) else None)
    await agent.run("Go.")
    await agent.close()
    return tool_results


async def test_a_file_must_be_read_before_it_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("precious\n")
    write = S.call("write_file", path="a.txt", content="new\n")
    refused, read, written = await results(tmp_path, write, S.call("read_file", path="a.txt"), write)
    assert (refused.status, read.status, written.status) == ("error", "ok", "ok")
    assert "have not read it; read it first" in refused.text
    assert (tmp_path / "a.txt").read_text() == "new\n"


async def test_new_empty_equal_and_own_files_need_no_reading(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "same.txt").write_text("same\n")
    tool_results = await results(
        tmp_path,
        S.call("write_file", path="empty.txt", content="x\n"),
        S.call("create_file", path="same.txt", content="same\n"),
        S.call("write_file", path="own.txt", content="one\n"),
        S.call("write_file", path="own.txt", content="two\n"),
    )
    assert [result.status for result in tool_results] == ["ok"] * 4
