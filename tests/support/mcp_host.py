"""The process that MCP servers of tests are forked from: it has loaded the protocol's package, which takes long."""

import atexit
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from repository import ROOT

FOLDER = ROOT / "packages" / "core" / "tests" / "tools" / "mcp"


@cache
def fork_host() -> str:
    """Start the host that forks servers, one for all tests of a process. Returns the address of its socket."""
    path = str(Path(tempfile.mkdtemp(prefix="heald-mcp-")) / "socket")
    command = [sys.executable, str(FOLDER / "mcp_fork.py"), "host", path, str(Path(__file__).parent)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"

    def end() -> None:
        process.communicate()
        shutil.rmtree(Path(path).parent)

    atexit.register(end)
    return path


def forked_command(script: str, *words: str) -> list[str]:
    """The command that starts the server of a script at once."""
    return [sys.executable, "-I", "-S", str(FOLDER / "mcp_fork.py"), fork_host(), script, *words]
