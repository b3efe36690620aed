"""Prompts and resources of MCP servers on the command line, and `heald mcp list`, `login` and `logout`."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from cli_tmux import NEEDS_TMUX, Tmux

from cli_bench import run_process, run_with
from heald.core.messages import Text
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.mcp import McpServer, McpServers
from heald_cli.mcp_input import attach_resources, complete_resource, expand_prompt
from mcp_host import forked_command
from repository import ROOT

SERVER = str(ROOT / "packages" / "core" / "tests" / "tools" / "mcp" / "mcp_feature_server.py")


def typed_server() -> str:
    """The server as a person types it. It is forked: that is quicker than a start."""
    return f"feat={shlex.join(forked_command(SERVER))}"


def write(text: str) -> None:
    Path("heald.toml").write_text(text)


async def test_typed_prompts_and_resources() -> None:
    command, *arguments = forked_command(SERVER)
    async with McpServers([McpServer(name="feat", command=command, args=tuple(arguments))]) as servers:
        assert await expand_prompt(servers, "/feat:review a.py") == [Text("Review a.py in a kind tone.")]
        assert await expand_prompt(servers, "/mcp__feat__review a.py dry") == [Text("Review a.py in a dry tone.")]
        assert await expand_prompt(servers, "/review") is None
        assert await expand_prompt(None, "/feat:review a.py") is None
        parts, faults = await attach_resources(servers, "See @feat:notes://today, and @feat:notes://no and a@b:c.")
        assert parts == [Text("[Resource notes://today]\nBuy bread.")]
        assert len(faults) == 1
        assert faults[0].startswith("@feat:notes://no was not attached: ")
        assert complete_resource(servers, "See @fe") == ("See @feat:notes://today", ["feat:notes://today"])
        assert complete_resource(servers, "See @other") == ("See @other", ())


async def test_run_uses_a_prompt_and_a_resource() -> None:
    async with ScriptedServer([wire_reply("chat", text="Reviewed.")] * 2) as model:
        ran = await run_process(*run_with(model, "--mcp", typed_server(), "/feat:review a.py"))
        assert ran.out.strip() == "Reviewed."
        ran = await run_process(*run_with(model, "--mcp", typed_server(), "Look at @feat:notes://today"))
        assert ran.code == 0
    first, second = (str(request.body["messages"][-1]["content"]) for request in model.requests)
    assert "Review a.py in a kind tone." in first
    assert "Buy bread." in second


async def test_list_login_and_logout(tmp_path: Path) -> None:
    write('[mcp.web]\nurl = "http://127.0.0.1:9/mcp"\n\n[mcp.local]\ncommand = "x"\n')
    await run_process("trust", "--yes")
    ran = await run_process("mcp", "list")
    assert [line.split() for line in ran.out.splitlines()] == [["web", "http://127.0.0.1:9/mcp"], ["local", "x"]]
    assert "is a command" in (await run_process("mcp", "login", "local")).err
    assert "there are web, local" in (await run_process("mcp", "login", "other")).err
    assert "not signed in" in (await run_process("mcp", "logout", "web")).err
    assert "could not be reached" in (await run_process("mcp", "login", "web")).err


WITHOUT_PACKAGE = """
from importlib.machinery import PathFinder

find_spec = PathFinder.find_spec
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] == {package!r} else find_spec(name, *more)
"""


@pytest.mark.parametrize("package", ["mcp", "mcp_types"])
async def test_the_extra_that_is_missing_is_named(package: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_PACKAGE.format(package=package))
    for words in (["mcp"], ["mcp", "--http", "--port", "0"], ["mcp", "list"]):
        ran = await run_process(*words, PYTHONPATH=str(tmp_path))
        assert ran.code == 2, ran
        assert len(ran.err.splitlines()) == 1
        assert "missing: pip install 'heald[mcp]'" in ran.err


@NEEDS_TMUX
async def test_chat_has_prompts_as_commands(tmp_path: Path) -> None:
    async with ScriptedServer([wire_reply("chat", text="Reviewed.")]) as model:
        words = ["chat", "--model", "m", "--base-url", f"{model.url}/v1", "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, *words, "--mcp", typed_server()) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("/mcp")
            await terminal.shows("1 prompt, 1 resource")
            await terminal.enter("/feat:review a.py")
            await terminal.shows("Reviewed.")
            await terminal.enter("/exit")
            await terminal.shows("status 0")
    assert "Review a.py" in str(model.requests[0].body["messages"][-1]["content"])


@NEEDS_TMUX
async def test_chat_answers_while_a_server_starts(tmp_path: Path) -> None:
    tools: list[list[str]] = []

    def reply(request: Any) -> Reply:
        tools.append([tool["function"]["name"] for tool in request.body["tools"]])
        return wire_reply("chat", text=f"Answer {len(tools)}.")

    slow = f"while [ ! -f {tmp_path}/go ]; do sleep 0.05; done; exec {shlex.join(forked_command(SERVER))}"
    write(f"[mcp.feat]\ncommand = 'sh'\nargs = ['-c', {json.dumps(slow)}]\n")
    await run_process("trust", "--yes")
    async with ScriptedServer(reply) as model:
        words = ["chat", "--model", "m", "--base-url", f"{model.url}/v1", "--data", str(tmp_path / "data")]
        async with Tmux(tmp_path, *words) as terminal:
            await terminal.shows("heald with m")
            await terminal.enter("Hello")
            await terminal.shows("MCP servers are still starting", "Answer 1.")
            (tmp_path / "go").touch()
            await terminal.enter("/feat:review a.py")
            await terminal.shows("Answer 2.")
    assert not [name for name in tools[0] if name.startswith("feat__")]
    assert [name for name in tools[1] if name.startswith("feat__")]
