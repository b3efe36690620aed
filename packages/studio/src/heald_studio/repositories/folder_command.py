"""A command of a repository in the sandbox. Its network reaches the hosts that a person allowed for the folder."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import resources
from socket import socket
from urllib.parse import quote

from heald.tools.diagnostics.installed_programs import find_program, program_folders
from heald.tools.shell.command_output import Channel, CommandOutput
from heald.tools.shell.network.command_gate import CommandGate, SessionHosts
from heald.tools.shell.network.proxy import NetworkProxy
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox, SandboxLimits
from heald.tools.tool_fault import ToolFault

_MOST_TEXT = 64_000
"""Characters of the newest output that are kept."""
_ENVIRONMENT = {
    "BROWSER": "none",
    "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "npm_config_update_notifier": "false",
    "NEXT_TELEMETRY_DISABLED": "1",
    "ASTRO_TELEMETRY_DISABLED": "1",
    "NUXT_TELEMETRY_DISABLED": "1",
}
_CPU_SECONDS = 24 * 3600
"""A dev server runs for as long as somebody works with it."""


class _Output(CommandOutput):
    """Keeps the end of the output. A dev server may write for hours, so the amount has no limit."""

    def __init__(self, on_text: Callable[[str], object] | None) -> None:
        super().__init__()
        self.text = ""
        self._on_text = on_text

    def feed(self, channel: Channel, data: bytes) -> None:
        text = self._readers[channel].feed(data)
        self.text = (self.text + text)[-_MOST_TEXT:]
        if self._on_text is not None:
            self._on_text(self.text)

    def close(self) -> str:
        return self.text


class FolderCommand:
    """A running command. It has no keys in its environment, and its processes end with it."""

    def __init__(
        self,
        sandbox: Sandbox,
        folder: str,
        command: str,
        *,
        environment: Mapping[str, str] | None = None,
        listener: socket | None = None,
        on_text: Callable[[str], object] | None = None,
    ) -> None:
        """Start it. A `listener` is open in it as the descriptor HEALD_SOCKET; `on_text` gets the end of its output
        after every piece. Raises ToolFault if there is no sandbox, or no Node."""
        node = find_program("node")
        if node is None:
            raise ToolFault("Node is not installed on this machine; install it to start the repository.", "no_node")
        if sandbox.unsandboxed:
            raise ToolFault(
                "The server runs without a sandbox (--unsandboxed), and the code of a repository needs one.",
                "no_sandbox",
            )
        self.command = command
        self.refused_hosts: dict[str, str] = {}
        """Hosts that the command asked for and did not reach, with the reason."""
        readable = (*sandbox.readable, *program_folders(node))
        limits: SandboxLimits = replace(sandbox.limits, cpu_seconds=_CPU_SECONDS)
        confined = replace(sandbox, readable=readable, limits=limits)
        gate = CommandGate(folder, command, SessionHosts(), None)
        proxy = NetworkProxy(gate, on_connection=self._note_host) if sandbox.has_network else None
        launch = confined.prepare(folder, command, proxy=proxy)
        launch.env |= {
            **_ENVIRONMENT,
            "NODE_OPTIONS": f"--import={_interfaces_module()}",
            "PATH": f"{os.path.dirname(node)}:{launch.env['PATH']}",
            **(environment or {}),
        }
        if listener is not None:
            launch.child_fds.append(os.dup(listener.fileno()))
            launch.env["HEALD_SOCKET"] = str(launch.child_fds[-1])
        self._output = _Output(on_text)
        self._process = Process(launch, self._output)

    @property
    def text(self) -> str:
        """The end of the output."""
        return self._output.text

    @property
    def is_running(self) -> bool:
        return self._process.running

    @property
    def exit_code(self) -> int | None:
        return self._process.exit_code

    @property
    def notes(self) -> Sequence[str]:
        """Why it was stopped, and which files of the folder were put back, once it has ended."""
        return self._process.notes

    async def wait(self) -> None:
        """Wait until it has ended."""
        with suppress(ToolFault):  # the sandbox failed: the exit code stays None
            await self._process.wait()

    async def stop(self) -> None:
        await self._process.stop()

    def _note_host(self, host: str, refusal: str | None) -> None:
        if refusal is not None:
            self.refused_hosts[host] = refusal


@cache
def _interfaces_module() -> str:
    """Return the module that every Node in the sandbox loads first, as an address: the sandbox has no file for it."""
    text = resources.files("heald_studio.repositories").joinpath("interfaces.mjs").read_text("utf-8")
    return f"data:text/javascript,{quote(text, safe='')}"
