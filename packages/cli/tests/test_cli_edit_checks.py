"""The checks after an edit in `heald run`: their result on the screen and for the model, and their option."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_bench import run_process
from cli_pages import here
from heald.core.messages import ToolCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.sandbox import Sandbox

FORMATTER = "#!/bin/sh\ntr a-z A-Z\n"

pytestmark = pytest.mark.skipif(Sandbox().available() is not None, reason="there is no sandbox here")


def writer(request: Any) -> Reply:
    if request.body["messages"][-1]["role"] == "tool":
        return wire_reply("chat", text="Done.")
    content = {"path": "main.go", "content": "package main\n"}
    return wire_reply("chat", calls=[ToolCall(id="c", name="write_file", input=content)])


async def test_the_formatter_of_the_folder_runs_unless_it_is_turned_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "gofmt").write_text(FORMATTER)
    (programs / "gofmt").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]))
    here("go.mod").write_text("module m\n")
    async with ScriptedServer(writer) as server:
        place = ["--model", "m", "--base-url", f"{server.url}/v1", "--workspace", ".", "--permissions", "auto"]
        done = await run_process("run", *place, "Write it.")
        assert done.code == 0, done.err
        assert here("main.go").read_text() == "PACKAGE MAIN\n"
        assert "main.go was formatted by gofmt" in str(server.requests[-1].body["messages"][-1])
        assert "formatted" in done.err
        here("main.go").unlink()
        await run_process("run", *place, "--no-checks", "Write it.")
        assert here("main.go").read_text() == "package main\n"
