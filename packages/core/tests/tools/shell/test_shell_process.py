# ruff: noqa: ASYNC110, ASYNC220, ASYNC240
"""Time, output and ends: S10 and S11 of the threat list, cancels, and nothing left behind."""

import asyncio
import gc
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from shell_bench import Place, alive, exit_code

from heald.tools.shell.command_output import MOST, CommandOutput
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox, SandboxLimits
from heald.tools.tool_fault import ToolFault

HIDING = {
    "plain": "sleep 600",
    "child": "bash -c 'sleep 600; true'; true",
    "setsid": "(setsid sleep 600 &); sleep 600",
    "nohup": "nohup sleep 600 > /dev/null 2>&1 & sleep 600",
    "double fork": "( ( sleep 600 & ) & ); sleep 600",
    "deaf": "trap '' TERM INT HUP QUIT; bash -c 'trap \"\" TERM; sleep 600; true'; sleep 600",
    "closed streams": "bash -c 'exec < /dev/null > /dev/null 2>&1; sleep 600; true' & exec >&- 2>&-; sleep 600",
    "stopped": "bash -c 'kill -STOP $$'; sleep 600",
    "busy": "while :; do :; done",
}


def marked(marker: str, command: str) -> str:
    """The command with the marker in its line and in the environment of all that it starts."""
    return f"export MARKER={marker}; {command}"


async def all_processes_ended(marker: str) -> bool:
    """Nothing with the marker is alive, at the latest soon: the machine may be busy."""
    for _ in range(1000):
        if not alive(marker):
            return True
        await asyncio.sleep(0.02)
    return False


@pytest.mark.parametrize("how", HIDING)
async def test_a_timeout_ends_everything(place: Place, how: str):
    marker = uuid4().hex
    began = time.monotonic()
    result = await place.run(marked(marker, HIDING[how]), timeout_s=1)
    assert time.monotonic() - began < 45
    assert result.status == "timeout"
    assert "The command was ended after 1 s" in result.text
    assert await all_processes_ended(marker)


@pytest.mark.parametrize("how", HIDING)
async def test_a_cancel_ends_everything(place: Place, how: str):
    marker = uuid4().hex
    task = asyncio.create_task(place.run(marked(marker, HIDING[how])))
    while not alive(marker):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await all_processes_ended(marker)


async def test_a_normal_end_ends_what_was_left_running(place: Place):
    marker = uuid4().hex
    result = await place.run(marked(marker, "(setsid sleep 600 &); echo started; exit 4"))
    assert exit_code(result) == 4
    assert "started" in result.text
    assert await all_processes_ended(marker)


async def test_what_was_sent_before_a_timeout_is_reported(place: Place):
    result = await place.run("echo early; sleep 600", timeout_s=1)
    assert result.text.endswith("early\n")
    assert place.shown() == "early\n"


@pytest.mark.parametrize("delay", [0.0, 0.001, 0.003, 0.006, 0.01, 0.02])
async def test_a_cancel_at_any_moment_of_the_start_cleans_up(place: Place, delay: float):
    marker = uuid4().hex
    for _ in range(5):
        task = asyncio.create_task(place.run(f"sleep 600 # {marker}"))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await all_processes_ended(marker)
    assert list(place.folder.iterdir()) == []


def _children() -> set[str]:
    """The processes that this one has started, dead ones that nobody waited for included."""
    return {pid for thread in Path("/proc/self/task").iterdir() for pid in (thread / "children").read_text().split()}


async def test_two_hundred_cancels_leak_nothing(place: Place):
    marker = uuid4().hex
    await place.run("true")
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    tasks = len(asyncio.all_tasks())
    children = _children()
    for turn in range(200):
        task = asyncio.create_task(place.run(marked(marker, "(setsid sleep 600 &); echo x; sleep 600")))
        await asyncio.sleep(0.002 * (turn % 20))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await all_processes_ended(marker)
    assert len(os.listdir("/proc/self/fd")) == files
    assert len(asyncio.all_tasks()) == tasks
    assert list(place.folder.iterdir()) == []
    assert _children() <= children  # no zombie either


async def test_a_second_cancel_does_not_hurry_the_end(sandbox: Sandbox, tmp_path: Path):
    marker = uuid4().hex
    process = Process(sandbox.prepare(str(tmp_path), f"sleep 600 # {marker}"), CommandOutput())
    while not alive(marker):
        await asyncio.sleep(0.01)
    stopping = asyncio.create_task(process.stop())
    for _ in range(3):
        await asyncio.sleep(0)
        stopping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopping
    assert not process.running
    assert await all_processes_ended(marker)


async def test_a_killed_server_cleans_up(sandbox: Sandbox, tmp_path: Path):
    marker = uuid4().hex
    program = (
        "import asyncio, sys\n"
        "from heald.tools.shell.sandbox import Sandbox\n"
        "from heald.tools.shell.command_output import CommandOutput\n"
        "from heald.tools.shell.process import Process\n"
        "async def main():\n"
        "    await Process(Sandbox().prepare(sys.argv[1], sys.argv[2]), CommandOutput()).wait()\n"
        "asyncio.run(main())\n"
    )
    command = marked(marker, "(setsid sleep 600 &); sleep 600")
    server = subprocess.Popen([sys.executable, "-c", program, str(tmp_path), command])
    while len(alive(marker)) < 5:  # the server, both processes of the sandbox, the shell, the sleeper
        assert server.poll() is None, "the server ended before its command ran"
        await asyncio.sleep(0.02)
    server.send_signal(signal.SIGKILL)
    server.wait()
    assert await all_processes_ended(marker)


def test_a_loop_that_closes_under_a_command_cleans_up(sandbox: Sandbox, tmp_path: Path):
    marker = uuid4().hex
    for delay in (0.0, 0.001, 0.005, 0.1):

        async def begin(delay: float = delay) -> Process:
            process = Process(sandbox.prepare(str(tmp_path), f"sleep 600 # {marker}"), CommandOutput())
            await asyncio.sleep(delay)
            return process

        files = len(os.listdir("/proc/self/fd"))
        asyncio.run(begin())
        assert asyncio.run(all_processes_ended(marker))
        assert len(os.listdir("/proc/self/fd")) == files
    assert list(tmp_path.iterdir()) == []


async def test_a_sandbox_that_cannot_be_set_up_is_a_fault_and_nothing_runs(sandbox: Sandbox, tmp_path: Path):
    launch = sandbox.prepare(str(tmp_path), "touch here", "")
    assert launch.argv[1] == "--args"
    launch.argv[1:3] = ["--chdir", "/nowhere", *launch.argv[1:3], "--bind", "/does-not-exist", "/x"]
    process = Process(launch, CommandOutput())
    with pytest.raises(ToolFault, match="could not be set up, so nothing was run"):
        await process.wait()
    assert list(tmp_path.iterdir()) == []


class Unhurried(SandboxLimits):
    """While it takes its time a sandbox that fails has failed."""

    def impose(self, pid: int) -> None:
        time.sleep(0.5)


class Late(Unhurried):
    def impose(self, pid: int) -> None:
        super().impose(pid)
        SandboxLimits.impose(self, pid)


@pytest.mark.parametrize("slow", [Unhurried, Late])
async def test_a_sandbox_that_is_missing_before_it_could_let_anybody_in(
    sandbox: Sandbox, tmp_path: Path, slow: type[SandboxLimits]
):
    launch = sandbox.prepare(str(tmp_path), "touch here", "")
    launch.argv[1:3] = ["--chdir", "/nowhere", *launch.argv[1:3], "--bind", "/does-not-exist", "/x"]
    launch.limits = slow()
    with pytest.raises(ToolFault, match="could not be set up, so nothing was run"):
        await Process(launch, CommandOutput()).wait()
    assert list(tmp_path.iterdir()) == []


# --- output -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    ["yes | head -c 2G", "cat /dev/urandom", "yes '' ", "yes x >&2", "while :; do printf '\\r%d' 1; done"],
    ids=["yes", "random", "lines", "stderr", "progress"],
)
async def test_endless_output_is_bounded_and_stopped(place: Place, command: str):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await place.run(command, timeout_s=120 if "printf" not in command else 3)
    if result.status == "timeout":
        assert "printf" in command
    else:
        assert result.text.startswith(f"stopped after {MOST // 1024 // 1024} MiB of output")
        assert result.is_error
        assert result.truncated
    assert len(result.text) < 256 * 1024
    assert len(place.shown()) < 2 * 1024 * 1024
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50 * 1024, f"{grown} KiB"


async def test_long_output_keeps_its_beginning_and_its_end(place: Place):
    result = await place.run("seq 1 200000")
    assert result.truncated
    assert "\n1\n2\n3\n" in result.text
    assert result.text.endswith("199999\n200000\n")
    assert exit_code(result) == 0


async def test_streams_are_distinguished_and_shown_while_the_command_runs(place: Place):
    task = asyncio.create_task(place.run("echo out; echo err >&2; sleep 30; echo late"))
    while place.shown() != "out\nerr\n":
        await asyncio.sleep(0.01)
    assert place.shown("stdout") == "out\n"
    assert place.shown("stderr") == "err\n"
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_shown_is_what_is_reported(place: Place):
    result = await place.run("for i in 1 2 3; do echo out $i; echo err $i >&2; done; printf 'é%.0s' $(seq 5000)")
    assert result.text.partition("\n")[2] == place.shown()


async def test_terminal_sequences_reach_nobody(place: Place):
    result = await place.run(
        r"printf 'a\e]52;c;ZXZpbA==\ab\e[2Jc\e]8;;file:///etc/passwd\e\\d\rprogress\n\xe2\x80\xae\x00\x07'; "
        r"printf '\e]0;ti'; sleep 0.1; printf 'tle\a|'; printf '\xf0\x9f'; sleep 0.1; printf '\x98\x80'; printf '\e['"
    )
    expected = "abcd\rprogress\n\\u202e\\x00\\x07|😀\\x1b["
    assert result.text.partition("\n")[2] == expected
    assert place.shown() == expected


async def test_exit_codes_are_results_not_errors(place: Place):
    for command, code in (("exit 7", 7), ("no-such-program", 127), ("kill -9 $$", 137), ("false", 1), ("true", 0)):
        result = await place.run(command)
        assert exit_code(result) == code
        assert result.status == "ok"
        assert not result.is_error


async def test_input_is_empty(place: Place):
    assert exit_code(await place.run("read x", timeout_s=20)) == 1


@pytest.mark.parametrize("command", ["", "  \n", "echo \0", "x" * 200_000, "echo \ud800"])
async def test_what_cannot_be_a_command_is_reported(place: Place, command: str):
    result = await place.run(command)
    assert result.status == "error"
    assert ": The command " in result.text


# --- in the background ----------------------------------------------------------------------------------------------


async def test_a_command_in_the_background(place: Place):
    marker = uuid4().hex
    started = await place.run(f"echo one; sleep 0.3; echo two; sleep 600 # {marker}", background=True)
    assert started.text.startswith("command-1 runs in the background")
    said = ""
    while "two" not in said:
        result = await place.call("command_output", id="command-1", wait_s=0.2)
        assert result.text.startswith("command-1 is running")
        said += result.text.partition("\n")[2]
    assert said == "one\ntwo\n", "what was told is not told again"
    assert place.shown() == "", "nothing of a call may follow its result"
    stopped = await place.call("stop_command", id="command-1")
    assert stopped.text.startswith("command-1 was stopped")
    assert await all_processes_ended(marker)
    again = await place.call("command_output", id="command-1")
    assert again.status == "error"
    assert "There is no background command" in again.text


async def test_the_end_of_a_background_command_is_reported_once(place: Place):
    await place.run("echo hi; exit 3", background=True)
    result = await place.call("command_output", id="command-1", wait_s=30)
    assert exit_code(result) == 3
    assert result.text.endswith("hi\n")
    assert (await place.call("command_output", id="command-1")).status == "error"


async def test_the_session_ends_its_background_commands(make_place: Callable[[Sandbox], Place], sandbox: Sandbox):
    place = make_place(sandbox)
    marker = uuid4().hex
    for _ in range(8):
        assert (await place.run(marked(marker, "(setsid sleep 600 &); sleep 600"), background=True)).status == "ok"
    refused = await place.run("sleep 600", background=True)
    assert refused.status == "error"
    assert "8 commands run in the background already" in refused.text
    await place.runtime.close()
    assert await all_processes_ended(marker)
    assert list(place.folder.iterdir()) == []


async def test_unsandboxed_commands_are_ended_too(make_place: Callable[[Sandbox], Place]):
    place = make_place(Sandbox(unsandboxed=True))
    marker = uuid4().hex
    result = await place.run(marked(marker, "sleep 600 & sleep 600"), timeout_s=0.5)
    assert result.status == "timeout"
    assert await all_processes_ended(marker)
    assert exit_code(await place.run(marked(marker, "sleep 600 & exit 2"))) == 2
    assert await all_processes_ended(marker)
    await place.runtime.close()
