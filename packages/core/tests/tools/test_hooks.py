"""Hooks around calls of tools: real commands that check, refuse and report."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import heald
from heald.core.errors import ConfigurationError
from heald.core.messages import ToolResult
from heald.tools.hooks import ToolHook, ToolHooks

call = heald.testing.ScriptedModel.call


async def run(folder: Path, hooks: ToolHooks, *calls: object) -> list[ToolResult]:
    """The results of calls between hooks."""
    model = heald.testing.ScriptedModel([list(calls), "Done."])  # pyright: ignore[reportArgumentType]
    agent = heald.Agent(model, tools=["files"], workspace=folder, middleware=[hooks.run_around])
    await agent.run("Work.")
    results = [block for message in agent.messages for block in message.content if isinstance(block, ToolResult)]
    await agent.close()
    return results


async def test_a_hook_before_refuses_a_call(tmp_path: Path) -> None:
    hooks = ToolHooks(before=['create_file(*.lock): echo "Lock files are made by tools."; exit 1'])
    refused, done = await run(
        tmp_path, hooks, call("create_file", path="a.lock", content="x"), call("create_file", path="a.txt", content="x")
    )
    assert refused.status == "denied"
    assert "A hook refused this call." in refused.text
    assert "Lock files are made by tools." in refused.text
    assert done.status == "ok"
    assert not (tmp_path / "a.lock").exists()
    assert (tmp_path / "a.txt").exists()


async def test_a_hook_after_changes_the_file_and_reports_failures(tmp_path: Path) -> None:
    hooks = ToolHooks(
        after=['create_file: echo formatted >> "$HEALD_PATH"', 'create_file(*.py): echo "line 1 is too long"; exit 3']
    )
    fine, failed = await run(
        tmp_path,
        hooks,
        call("create_file", path="a.txt", content="x\n"),
        call("create_file", path="b.py", content="y\n"),
    )
    assert (tmp_path / "a.txt").read_text() == "x\nformatted\n"
    assert "hook" not in fine.text
    assert failed.status == "ok"
    assert "failed with exit code 3:\nline 1 is too long" in failed.text


async def test_a_hook_gets_the_call_as_json(tmp_path: Path) -> None:
    hooks = ToolHooks(before=["*: cat > before.json"], after=["create_file: cat > after.json"])
    await run(tmp_path, hooks, call("create_file", path="a.txt", content="x"))
    before, after = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("before", "after"))
    assert before["arguments"] == {"path": "a.txt", "content": "x"}
    assert (before["hook"], before["tool"], before["workspace"]) == ("before", "create_file", str(tmp_path))
    assert "a.txt" in after["result"]


async def test_a_hook_that_hangs_is_stopped(tmp_path: Path) -> None:
    hooks = ToolHooks(before=["create_file: sleep 60"], seconds=0.2)
    (result,) = await run(tmp_path, hooks, call("create_file", path="a.txt", content="x"))
    assert "was stopped after 0.2 s" in result.text
    assert not (tmp_path / "a.txt").exists()


async def test_a_script_that_the_model_changed_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text("exit 0\n")
    hooks = ToolHooks(after=["*: sh ./check.sh"], folder=str(tmp_path))
    (fine,) = await run(tmp_path, hooks, call("list_files"))
    assert "hook" not in fine.text
    (tmp_path / "check.sh").write_text(f"touch {tmp_path}/escaped\n")
    (changed,) = await run(tmp_path, hooks, call("list_files"))
    assert "check.sh was changed since the start" in changed.text
    assert not (tmp_path / "escaped").exists()


@pytest.mark.parametrize(
    "command",
    [
        *("git push", "FOO=1 git push", "(git push)", "eval git push", "eval $X", "git push > x", "timeout 5 git push"),
        *("bash -c 'git push'", "git -C . push", "echo git push | sh", "python3 -c 'git push'", "git $X", "if"),
    ],
)
async def test_a_hook_before_a_command_runs_however_it_is_written(tmp_path: Path, command: str) -> None:
    model = heald.testing.ScriptedModel([[call("run_command", command=command)], "Done."])
    hooks = ToolHooks(before=["run_command(git push*): echo 'Ask first.'; exit 1"])
    agent = heald.Agent(model, tools=["shell"], workspace=tmp_path, middleware=[hooks.run_around])
    await agent.run("Work.")
    results = [block for message in agent.messages for block in message.content if isinstance(block, ToolResult)]
    await agent.close()
    assert [result.status for result in results] == ["denied"]
    assert "Ask first." in results[0].text


def test_a_hook_does_not_run_for_another_command() -> None:
    hook = ToolHook.parse("run_command(git push*): false")
    [run_command] = heald.named_tools(["run_command"])
    for command in (
        "git status",
        "git stash push",
        "echo 'git push'",
        "timeout 5 git log > f",
        "cat <<'E'\ngit push\nE",
    ):
        invocation = SimpleNamespace(tool=run_command, arguments={"command": command})
        assert not hook.is_for(cast(Any, invocation)), command


@pytest.mark.parametrize("text", ["", "edit_file", "edit_file:", "edit_file: ", "(x): y"])
def test_what_is_no_hook(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a hook"):
        ToolHook.parse(text)
