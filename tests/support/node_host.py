"""Scripts in one process of node: the packages that they import are loaded once, which takes most of a second.

For tests that run many scripts and do not ask how node starts.
"""

import asyncio
import atexit
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

SECONDS = 120


class NodeHost:
    """The process of node. It runs one script at a time, and ends when its input is closed."""

    def __init__(self) -> None:
        command = ["node", str(Path(__file__).with_suffix(".mjs"))]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _run(self, script: Path, arguments: tuple[str, ...]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"script": str(script), "arguments": arguments}).encode() + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": "The process of node has ended."}

    async def run(self, script: Path, *arguments: str) -> list[str]:
        """Run a script. Returns the lines that it prints. A host whose script failed is not used again."""
        try:
            async with asyncio.timeout(SECONDS):
                answer = await asyncio.to_thread(self._run, script, arguments)
            assert "error" not in answer, answer["error"][-3000:]
        except BaseException:
            node_host.cache_clear()
            self.close()
            raise
        return answer["lines"]

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


@cache
def node_host() -> NodeHost:
    """One for all tests of a process."""
    host = NodeHost()
    atexit.register(host.close)
    return host
