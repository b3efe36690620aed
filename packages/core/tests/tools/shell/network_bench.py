"""Runs commands in a real sandbox whose proxy reaches servers of the test under public names and addresses."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.network.command_gate import CommandGate, SessionHosts
from heald.tools.shell.network.proxy import NetworkProxy, ProxyLimits, Streams
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox

PUBLIC = "93.184.215.14"
"""A public address that stands for every server of the test. It is never dialled."""

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Outcome:
    code: int | None
    text: str
    notes: tuple[str, ...]

    @property
    def whole(self) -> str:
        return "\n".join([self.text, *self.notes])


@dataclass
class NetworkBench:
    """Commands of one folder. `ports` maps the port that a command wants to the port of a server of the test."""

    folder: Path
    allowed: Iterable[str] = ()
    ports: dict[int, int] = field(default_factory=dict[int, int])
    names: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The addresses of names that do not have the usual one. Each answer is used once, the last one for good."""
    limits: ProxyLimits | None = None
    sandbox: Sandbox = field(default_factory=Sandbox)
    dialled: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    resolved: list[str] = field(default_factory=list[str])

    async def run(self, command: str, seconds: float = 60) -> Outcome:
        output = CommandOutput()
        hosts = SessionHosts()
        hosts.allowed.update(self.allowed)
        gate = CommandGate(str(self.folder), command, hosts, None, resolve=self._resolve)
        proxy = NetworkProxy(gate, self.limits, dial=self._dial)
        process = Process(self.sandbox.prepare(str(self.folder), command, proxy=proxy), output)
        in_time = await process.wait(seconds)
        await process.stop()
        assert in_time, output.close()
        return Outcome(process.exit_code, output.close(), tuple(process.notes))

    async def _resolve(self, host: str, _: int) -> list[str]:
        self.resolved.append(host)
        answers = self.names.get(host, [PUBLIC])
        return [answers.pop(0) if len(answers) > 1 else answers[0]]

    async def _dial(self, address: str, port: int) -> Streams:
        self.dialled.append((address, port))
        if address != PUBLIC or port not in self.ports:
            raise ConnectionRefusedError
        return await asyncio.open_connection("127.0.0.1", self.ports[port])


async def start_server(serve: Serve) -> tuple[asyncio.Server, int]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def is_closed(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
