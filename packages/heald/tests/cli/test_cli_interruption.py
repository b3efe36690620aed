"""Ctrl-C in commands that compute: they end, and what is finished stays."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE
from typing import Any

import pytest

from cli_bench import finish, run, started
from cli_pages import builder, here, picture
from heald.testing.server import Hang, Reply, ScriptedServer
from needed_programs import needs_chromium

COMPUTING = """
import asyncio, signal, sys, threading
from heald.commands.interruption import run_interruptible

signal.signal(signal.SIGINT, signal.default_int_handler)

def compute():
    print("computing", flush=True)
    threading.Event().wait()  # as long as the process lives

async def work():
    try:
        await asyncio.to_thread(compute)
    finally:
        sys.stdout.write("closed")  # is flushed by the end of the process alone

run_interruptible(work())
"""


async def test_a_thread_that_computes_is_not_waited_for() -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", COMPUTING, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    try:
        assert await asyncio.wait_for(process.stdout.readline(), 120) == b"computing\n"
        process.send_signal(signal.SIGINT)
        ran = await finish(process, seconds=30)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert (ran.code, ran.out, ran.err) == (130, "closed", "")


@needs_chromium
@pytest.mark.usefixtures("headless_shell")
async def test_an_interrupted_evaluation_keeps_its_rows_and_says_how_to_continue(
    capsys: pytest.CaptureFixture[str],
) -> None:
    here("shots").mkdir()
    for name, size in (("one", 240), ("two", 320)):
        picture(here(f"shots/{name}.png"), size, 160)
        here(f"shots/{name}.json").write_text('{"texts": []}')
    held = asyncio.Event()
    rows = here("report/rows")
    is_resumed = False

    def answer(request: Any) -> Reply:
        if is_resumed or not rows.exists():
            return builder(request)
        held.set()
        return Reply([Hang()])

    async with ScriptedServer(answer) as server:
        words = ["eval", "shots", "--base-url", f"{server.url}/v1", "--models", "good", "-o", "report"]
        async with started(*words) as process:
            await asyncio.wait_for(held.wait(), 60)
            process.send_signal(signal.SIGINT)
            ran = await finish(process)
        assert ran.code == 130
        assert "1 of 2 pages are done and kept; the same command with --resume continues." in ran.err
        assert len(list(rows.iterdir())) == 1
        assert not here("report/report.html").exists()
        is_resumed = True
        before = len(server.requests)
        resumed = await run(capsys, *words, "--resume")
    assert resumed.code == 0, resumed.err
    assert here("report/report.html").is_file()
    assert "two, good, html_css" in resumed.err
    assert "one, good, html_css" not in resumed.err
    assert len(server.requests) > before
