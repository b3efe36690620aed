"""Runs commands that take all they can, in the sandbox, and prints each result as a line of JSON.

A program of its own, so that it can be run as another user: `greedy_commands.py FOLDER [watched]`.
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from time import monotonic

from heald.core.messages import ToolCall
from heald.tools.runtime import ToolRuntime
from heald.tools.shell import cgroups
from heald.tools.shell.sandbox import Sandbox, SandboxLimits
from heald.tools.shell.tools import shell_tools
from heald.tools.workspace.disk import DiskWorkspace

SHARED = """
import mmap, os, time
block = mmap.mmap(-1, 8 << 30, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
for at in range(0, 8 << 30, 4096):
    block[at] = 1
    if at % (64 << 20) == 0:
        time.sleep(0.02)
print("got all of it")
"""
CHILDREN = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        data = bytearray(80 << 20)
        data[::4096] = bytes(len(data[::4096]))
        time.sleep(60)
time.sleep(60)
"""
FILES = 'for i in range(6000): open(str(i), "w").close()'
COMMANDS = {
    "fork bomb": "bomb() { bomb | bomb & }; bomb; sleep 60; echo survived",
    "patient fork bomb": "for i in $(seq 1 2000); do sleep 60 & done; wait; echo survived",
    "shared memory": f"python3 -c '{SHARED}'",
    "memory of several processes": f"python3 -c '{CHILDREN}'; echo survived",
    "files": f"mkdir many; cd many; python3 -c '{FILES}'; sleep 60; echo survived",
    "bytes": "for i in $(seq 1 100); do head -c 2M /dev/zero > f$i; done; sleep 60; echo survived",
    "core dump": "python3 -c 'import os; os.abort()'; ls core* 2>/dev/null; ulimit -c",
    "modest": "python3 -c 'x = bytearray(50 << 20); x[::4096] = bytes(len(x[::4096]))'; echo fine",
}
LIMITS = SandboxLimits(processes=200, total_memory=192 << 20, files=5_000, written=64 << 20)


def _without_groups(memory: int, processes: int) -> None:
    """As on a machine that delegates no control group."""


async def main(folder: Path) -> None:
    runtime = ToolRuntime(shell_tools(Sandbox(limits=LIMITS)), workspace=DiskWorkspace(folder))
    for name, command in COMMANDS.items():
        began = monotonic()
        call = ToolCall(id="c1", name="run_command", input={"command": command, "timeout_s": 120})
        [result] = await runtime.execute([call], lambda _: None)
        line = {"name": name, "text": result.text, "is_error": result.is_error, "seconds": monotonic() - began}
        print(json.dumps(line), flush=True)
    await runtime.close()


if __name__ == "__main__":
    if "watched" in sys.argv:
        cgroups.create = _without_groups
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(main(Path(made)))
