"""The command as a person starts it: in a thread beside the server, or as a process of its own."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from heald.testing.server import ScriptedServer
from heald_cli.main import main
from warm_process import is_python_the_same, start_warm, warm_host

KEY = "canary.77ab01.never-shown"

LOADED = (
    *(f"heald_cli.commands.{name}" for name in ("run", "key", "mcp", "doctor", "trust", "models", "sessions")),
    *("heald_cli.chat", "heald_studio.commands.eval"),
    *("heald.providers.session", "heald.sessions.session", "heald.tools.mcp", "heald_cli.mcp_input"),
    *("heald_cli.attempts.command", "heald_cli.chat.console", "heald_cli.chat.session", "heald_cli.repository.map"),
    *("heald.tools.memory.tools", "heald.tools.shell.tools", "heald.wires.decoder", "rich.markdown"),
)
"""What the process has loaded that others are forked from."""

START = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to Ctrl-C
runpy.run_module("heald_cli.main", run_name="__main__", alter_sys=True)
"""


class Ran(msgspec.Struct):
    code: int
    out: str
    err: str


async def run(capsys: pytest.CaptureFixture[str], *words: str) -> Ran:
    """`heald …` with an event loop of its own."""
    capsys.readouterr()
    code = await asyncio.to_thread(main, words)
    out, err = capsys.readouterr()
    return Ran(code, out, err)


def run_with(server: ScriptedServer, *words: str, wire: str = "chat") -> list[str]:
    """The words of `heald run` for a scripted server."""
    bases = {"gemini": "/v1beta", "ollama": ""}
    return ["run", "--model", "m", "--wire", wire, "--base-url", server.url + bases.get(wire, "/v1"), *words]


@asynccontextmanager
async def started(
    *words: str, stdin: int = DEVNULL, stdout: int = PIPE, env: dict[str, str] | None = None
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """`heald …` as a process, which does not outlive the block."""
    variables = os.environ | {"PYTHONWARNINGS": "error", "PYTHONUNBUFFERED": ""} | (env or {})
    command = [sys.executable, "-c", START, *words]
    process = await asyncio.create_subprocess_exec(*command, stdin=stdin, stdout=stdout, stderr=PIPE, env=variables)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def run_process(
    *words: str,
    said: bytes | None = None,
    env: Mapping[str, str] | None = None,
    loaded: Sequence[str] = LOADED,
    **more: str,
) -> Ran:
    """`heald …` as a process of its own. It is forked from one that has loaded the commands, unless Python itself is
    to start in another way."""
    changes = dict(env or {}) | more
    variables = os.environ | changes
    if not is_python_the_same(variables):
        async with started(*words, stdin=DEVNULL if said is None else PIPE, env=changes) as process:
            return await finish(process, said)
    host = warm_host(*loaded, strict=True)
    process = await start_warm(host, *words, folder=Path.cwd(), environment=variables, said=said, own_errors=True)
    try:
        async with asyncio.timeout(240):
            out, err = await process.communicate()
    finally:
        process.kill()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


async def finish(process: asyncio.subprocess.Process, said: bytes | None = None, seconds: float = 240) -> Ran:
    async with asyncio.timeout(seconds):
        out, err = await process.communicate(said)
    assert process.returncode is not None
    return Ran(process.returncode, (out or b"").decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def is_one_line_error(ran: Ran) -> bool:
    """One sentence on standard error, nothing on standard output, no traceback."""
    return ran.out == "" and ran.err.count("\n") == 1 and ran.err.startswith("heald: ") and "Traceback" not in ran.err
