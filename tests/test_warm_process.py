"""A command that is forked ends as one that was started: output, threads, handlers, warnings, exit status."""

import os
import sys
from pathlib import Path

import pytest

from warm_process import start_warm, warm_host

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked on Windows")

WORK = """
import atexit, threading, time
atexit.register(print, "handler")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
"""
LEFT_OPEN = """
class Cycle: pass
one = Cycle()
one.cycle, one.file = one, open("left")
del one
"""
CASES = {
    "work": (WORK + "print('end', end='')", 0, b"endthread\nhandler\n", b""),
    "status": ("print('end'); raise SystemExit(3)", 3, b"end\n", b""),
    "no status": ("raise SystemExit", 0, b"", b""),
    "words": ("raise SystemExit('It failed.')", 1, b"", b"It failed.\n"),
    "failure": (WORK + "raise ValueError('odd')", 1, b"thread\nhandler\n", b"ValueError: odd\n"),
    "left open": (LEFT_OPEN, 0, b"", b"ResourceWarning: unclosed file"),
    "closed output": ("import sys; print('end'); sys.stdout.close()", 0, b"end\n", b""),
}


@pytest.mark.parametrize("case", CASES)
async def test_a_forked_program_ends_as_one_that_was_started(tmp_path: Path, case: str) -> None:
    code, status, output, errors = CASES[case]
    (tmp_path / "left").touch()
    host = warm_host(strict=True)
    process = await start_warm(host, folder=tmp_path, environment=dict(os.environ), own_errors=True, code=code)
    out, err = await process.communicate()
    assert (process.returncode, out) == (status, output), err
    assert errors in err
    assert errors or not err
