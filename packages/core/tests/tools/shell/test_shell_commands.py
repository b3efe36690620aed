"""Permission rules and the commands of a line that is really run (S04, S05)."""

import os
from pathlib import Path

from shell_bench import Place

from heald.core.messages import ToolCall
from heald.tools.permissions import Permissions
from heald.tools.runtime import ToolRuntime
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools
from heald.tools.summaries import call_summary
from heald.tools.workspace.disk import DiskWorkspace


async def test_rules_hold_for_every_part(tmp_path: Path):
    """A deny is met wherever the command stands, and a line too complex to judge is denied with it."""
    permissions = Permissions("auto", ["deny run_command(curl *)"])
    runtime = ToolRuntime(
        shell_tools(Sandbox(unsandboxed=True)), workspace=DiskWorkspace(tmp_path), permissions=permissions
    )
    place = Place(tmp_path, tmp_path, runtime)
    for line in (
        "curl http://sink/",
        "true;" * 49 + "curl http://sink/",
        "true;" * 10_000 + "curl http://sink/",
        "/usr/bin/curl http://sink/",
        "c'u'rl http://sink/",
        "echo $(curl http://sink/)",
        "true\ncurl http://sink/",
        "timeout 5 env A=1 curl http://sink/",
        "bash -c 'curl http://sink/'",
        "echo curl http://sink/ | sh",
        "test -v 'a[$(curl http://sink/)]'",
    ):
        assert (await place.run(line)).status == "denied", line
    assert (await place.run("echo fine")).status == "ok"
    await runtime.close()


async def test_the_summary_is_escaped_for_display(tmp_path: Path):
    [run_command, *_] = shell_tools(Sandbox(unsandboxed=True))
    call = ToolCall(id="1", name="run_command", input={"command": "ls \x1b[2J\u202e", "cwd": "a\x07"})
    assert call_summary(run_command, call.input) == "ls ⟦\\x1b⟧[2J⟦\\u202e⟧ (in a⟦\\x07⟧)"
    assert os.listdir(tmp_path) == []


async def test_the_exit_code_is_data_for_programs(tmp_path: Path):
    runtime = ToolRuntime(
        shell_tools(Sandbox(unsandboxed=True)), workspace=DiskWorkspace(tmp_path), permissions=Permissions("auto")
    )
    place = Place(tmp_path, tmp_path, runtime)
    for code in (0, 2):
        result = await place.run(f"exit {code}")
        assert (result.status, result.data) == ("ok", {"exit_code": code})
    await runtime.close()
