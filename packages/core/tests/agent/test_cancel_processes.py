"""Commands and all that they started are dead when the exchange is cancelled, also what tried to get away."""

import os
from pathlib import Path

import pytest
from cancel_support import WIRES, Log, asking, assert_accepted, model_at, soon, until

import heald
from heald.agent.agent import Agent
from heald.core.events import ToolExecuting
from heald.core.messages import ToolResult
from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.sandbox import Sandbox
from heald.tools.shell.tools import shell_tools

TREE = """
(setsid bash -c 'exec -a {mark}-1 sleep 300' &)
(nohup bash -c 'trap "" TERM INT HUP; exec -a {mark}-2 sleep 300' >/dev/null 2>&1 &)
bash -c 'bash -c "exec -a {mark}-3 sleep 300" & wait' &
touch started
exec -a {mark}-4 sleep 300
"""


def alive(mark: str) -> list[str]:
    lines: list[str] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")[0].decode()
        except OSError:
            continue
        if line.startswith(mark):
            lines.append(line)
    return lines


@pytest.fixture
def tools() -> list[heald.Tool]:
    box = Sandbox()
    reason = box.available()
    if reason is not None:
        pytest.skip(reason)
    return shell_tools(box)


@pytest.mark.parametrize("wire", WIRES)
async def test_a_whole_tree_of_processes_ends(wire: str, tools: list[heald.Tool], tmp_path: Path) -> None:
    mark = f"heald-tree-{os.getpid()}-{wire}"
    folder = tmp_path / "ws"
    folder.mkdir()
    replies = [asking(wire, "run_command", command=TREE.format(mark=mark)), wire_reply(wire, text="Done.")]
    async with (
        ScriptedServer(replies) as server,
        Agent(model_at(server, wire), tools=tools, workspace=folder) as agent,
    ):
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: len(set(alive(mark))) == 4)
        agent.cancel()
        assert (await soon(exchange.result())).status == "cancelled"
        await until(lambda: not alive(mark))
        assert [r.status for r in log.of(ToolResult)] == ["cancelled"]
        assert (await soon(agent.run("Go on."))).text == "Done."
        assert_accepted(wire, server)
    log.assert_clean()


async def test_a_command_that_is_just_starting_ends(tools: list[heald.Tool], tmp_path: Path) -> None:
    mark = f"heald-start-{os.getpid()}"
    folder = tmp_path / "ws"
    folder.mkdir()
    call = heald.testing.ScriptedModel.call("run_command", command=f"exec -a {mark} sleep 300")
    model = heald.testing.ScriptedModel([[call], [call], [call], "Done."])
    async with Agent(model, tools=tools, workspace=folder) as agent:
        log = Log(agent)
        for number in range(3):
            exchange = agent.send("Go.")
            await until(lambda number=number: len(log.of(ToolExecuting)) == number + 1)
            agent.cancel()
            assert (await soon(exchange.result())).status == "cancelled"
            await until(lambda: not alive(mark))
        assert (await soon(agent.run("Go on."))).text == "Done."
    log.assert_clean()


async def test_what_runs_in_the_background_lives_until_the_agent_closes(
    tools: list[heald.Tool], tmp_path: Path
) -> None:
    """A cancel ends the exchange, not the server that the user wanted started; closing the agent ends both."""
    mark = f"heald-background-{os.getpid()}"
    folder = tmp_path / "ws"
    folder.mkdir()
    start = heald.testing.ScriptedModel.call("run_command", command=f"exec -a {mark} sleep 300", background=True)
    model = heald.testing.ScriptedModel([[start], "one two three four " * 200], piece=4, pause=0.01)
    async with Agent(model, tools=tools, workspace=folder) as agent:
        log = Log(agent)
        exchange = agent.send("Go.")
        await until(lambda: alive(mark) and log.types.count("message_start") == 2)
        agent.cancel()
        await soon(exchange.result())
        assert alive(mark)
    await until(lambda: not alive(mark))
    log.assert_clean()
