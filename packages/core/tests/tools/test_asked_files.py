"""Files that other programs obey are written after a person has approved it."""

import asyncio
import os
from pathlib import Path

import pytest

from heald.core.events import ApprovalRequested
from heald.core.messages import ToolCall
from heald.core.payload import Payload
from heald.tools.approvals import Approval, PendingApprovals
from heald.tools.files.write_tools import write_file
from heald.tools.permissions import Mode, Permissions
from heald.tools.runtime import ToolRuntime
from heald.tools.workspace.disk import DiskWorkspace
from heald.tools.workspace.memory import MemoryWorkspace
from heald.tools.workspace.paths import ASKED_PATHS, is_asked, is_protected

NAMED = (
    *(".clinerules", ".roo/rules/x.md", "QWEN.md", "opencode.json", ".zed/tasks.json", ".idea/workspace.xml"),
    *(".github/workflows/ci.yml", ".devcontainer/devcontainer.json", ".husky/pre-commit", ".pre-commit-config.yaml"),
    *("mise.toml", ".tool-versions", ".exrc", ".nvimrc", ".lvimrc", ".gitlab-ci.yml", "lefthook.yml", ".vimrc"),
    *(".dir-locals.el", ".npmrc", ".yarnrc.yml", "pip.conf", ".bazelrc"),
)


def write(path: str) -> ToolCall:
    return ToolCall(id="1", name="write_file", input={"path": path, "content": "x"})


def runtime_of(folder: Path, mode: Mode, *rules: str, attended: bool = False) -> ToolRuntime:
    approvals = PendingApprovals()
    approvals.attended = attended
    permissions = Permissions(mode, rules)
    return ToolRuntime([write_file], workspace=DiskWorkspace(folder), permissions=permissions, approvals=approvals)


@pytest.mark.parametrize("path", [*ASKED_PATHS, *NAMED])
def test_each_name_at_any_depth_and_in_any_spelling(path: str) -> None:
    for spelling in (path, path.upper(), f"deep/er/{path}", f"{path}/x", f"{path}.", "\u200d".join(path)):
        assert is_asked(spelling), spelling
    assert not is_protected(path)


@pytest.mark.parametrize(
    "path", ["README.md", "package.json", ".github/CODEOWNERS", "src/husky.ts", "workflows/ci.yml", "docs/rules.md"]
)
def test_other_files_are_not_asked_for(path: str) -> None:
    assert not is_asked(path)


@pytest.mark.parametrize("path", NAMED)
async def test_a_person_decides_even_where_the_tool_is_allowed(tmp_path: Path, path: str) -> None:
    for mode, rules in (("ask", ["allow write_file"]), ("ask", ["allow write_file(*)"]), ("auto", [])):
        runtime = runtime_of(tmp_path, mode, *rules, attended=True)  # pyright: ignore[reportArgumentType]
        asked: list[ApprovalRequested] = []

        def refuse(event: Payload, asked: list[ApprovalRequested] = asked, runtime: ToolRuntime = runtime) -> None:
            if isinstance(event, ApprovalRequested):
                asked.append(event)
                asyncio.get_running_loop().call_soon(runtime.approvals.resolve, event.approval, Approval(False))

        [result] = await runtime.execute([write(path)], refuse)
        assert result.status == "denied"
        assert len(asked) == 1
        await runtime.close()
    assert os.listdir(tmp_path) == []


async def test_where_nobody_can_be_asked_it_is_denied_unless_a_rule_names_it(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / ".husky").symlink_to("plain")
    for path in (".github/workflows/ci.yml", ".husky/pre-commit"):
        runtime = runtime_of(tmp_path, "auto")
        [result] = await runtime.execute([write(path)], lambda _: None)
        assert result.status == "denied"
        assert "a person must approve it and nobody can be asked here" in result.text
        await runtime.close()
    runtime = runtime_of(tmp_path, "auto", "allow write_file(.github/workflows/*)")
    [result] = await runtime.execute([write(".github/workflows/ci.yml")], lambda _: None)
    assert result.status == "ok"
    await runtime.close()


async def test_a_project_in_memory_is_obeyed_by_nobody() -> None:
    runtime = ToolRuntime([write_file], workspace=MemoryWorkspace())
    [result] = await runtime.execute([write(".github/workflows/ci.yml")], lambda _: None)
    assert result.status == "ok"
