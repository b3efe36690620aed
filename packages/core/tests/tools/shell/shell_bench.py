"""What the tests of the shell share: a workspace with a canary beside it, and a look at the processes alive."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heald.core.events import ToolOutputDelta
from heald.core.messages import ToolCall, ToolResult
from heald.core.payload import Payload
from heald.tools.runtime import ToolRuntime

CANARY = "CANARY-5f0c1d"


@dataclass
class Place:
    """A workspace `folder`, and `outside` beside it with the canary."""

    folder: Path
    outside: Path
    runtime: ToolRuntime
    events: list[Payload] = field(default_factory=list[Payload])
    calls: int = 0

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        self.calls += 1
        call = ToolCall(id=f"call-{self.calls}", name=name, input=arguments)
        [result] = await self.runtime.execute([call], self.events.append)
        assert CANARY not in str(self.events)
        return result

    async def run(self, command: str, **arguments: Any) -> ToolResult:
        return await self.call("run_command", command=command, **arguments)

    def shown(self, channel: str | None = None) -> str:
        """What people saw while commands ran."""
        deltas = [event for event in self.events if isinstance(event, ToolOutputDelta)]
        return "".join(delta.text for delta in deltas if channel is None or delta.channel == channel)


def exit_code(result: ToolResult) -> int:
    assert result.text.startswith("exit code "), result.text
    return int(result.text.split()[2].rstrip(","))


def alive(marker: str) -> list[int]:
    """The processes that carry the marker in their command line or environment."""
    pids: list[int] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        for file in ("cmdline", "environ"):
            try:
                if marker.encode() in Path(f"/proc/{entry}/{file}").read_bytes():
                    pids.append(int(entry))
                    break
            except OSError:
                pass
    return pids
