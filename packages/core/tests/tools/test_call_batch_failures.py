"""Every call has a result, also where its error cannot be described."""

from pathlib import Path

import pytest

import heald
from heald.core.messages import ToolResult
from heald.testing import ScriptedModel
from heald.tools.runtime import ToolRuntime


def _only_result(result: heald.AgentResult) -> ToolResult:
    (tool_result,) = [
        block for message in result.messages for block in message.content if isinstance(block, ToolResult)
    ]
    return tool_result


@pytest.mark.parametrize("path", ["a\x00.txt", "\ud800.txt"])
async def test_a_name_that_no_file_can_have_is_an_error(tmp_path: Path, path: str) -> None:
    model = ScriptedModel([[ScriptedModel.call("read_file", path=path)], "Done."])
    async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
        result = await agent.run("Read it.")
    assert result.status == "completed"
    assert _only_result(result).is_error


async def test_a_fault_while_an_error_is_described_ends_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("broken")

    model = ScriptedModel([[ScriptedModel.call("read_file", path="missing.txt")], "Done."])
    async with heald.Agent(model, tools=["files"], workspace=tmp_path) as agent:
        monkeypatch.setattr(ToolRuntime, "secret_path", fail)
        result = await agent.run("Read it.")
    assert result.status == "completed"
    assert _only_result(result).text == "The call failed, and its error cannot be shown."
