"""What the security tests share: a workspace with a canary beside it, a model that obeys whoever misled it, a sink."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from heald.agent.agent import Agent
from heald.agent.result import AgentResult
from heald.core.envelope import Event, decode_event
from heald.core.json import encode
from heald.core.messages import ToolCall, ToolResult
from heald.providers.scripted import Script, ScriptedCall
from heald.testing.server import Reply, ScriptedServer
from heald.testing.streams import wire_reply
from heald.tools.shell.sandbox import Sandbox
from heald_check import check_log
from log_support import Log, results_of, scripted

CANARY = "CANARY-c41d7e-outside"
KEY = "canary.90be44.never-shown"
"""A key without a look of its own, so that nothing masks it by its shape alone."""

_ENDINGS = ("_API_KEY", "_BASE_URL", "_PROXY", "_CA_BUNDLE", "_HOST", "_ENDPOINT")
_numbers = count(1)


@dataclass(frozen=True)
class Played:
    """One exchange that is over, proven."""

    result: AgentResult
    log: Log

    @property
    def results(self) -> list[ToolResult]:
        return results_of(self.log.agent.messages)

    @property
    def stored_text(self) -> str:
        """Every event, as it is stored."""
        return written(self.log.events)


@dataclass(frozen=True)
class Ran:
    """`heald run` that has ended."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[Event]:
        return [decode_event(line) for line in self.out.split("\n") if line]


class Stage:
    """A workspace `inside`, a folder `outside` with the canary, links between them, and a clean machine around."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in list(os.environ):
            if name.upper().endswith(_ENDINGS) or name.startswith("SSL_CERT"):
                monkeypatch.delenv(name)
        self.folder = folder
        self.inside, self.outside, self.elsewhere = folder / "WS", folder / "OUT", folder / "elsewhere"
        for place in (self.inside, self.outside, self.elsewhere, folder / "config"):
            place.mkdir()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        monkeypatch.chdir(self.elsewhere)
        (self.outside / "secret.txt").write_text(f"{CANARY}\nold\n")
        (self.inside / "ok.txt").write_text("fine\nold\n")
        (self.inside / "sub").mkdir()
        (self.inside / "sub" / "inner.txt").write_text("inner\nold\n")
        (self.inside / "link").symlink_to(self.outside)
        (self.inside / "near").symlink_to("../OUT")
        (self.inside / "file_link").symlink_to(self.outside / "secret.txt")
        (self.inside / "dangling").symlink_to(self.outside / "new")
        (self.inside / "good_link").symlink_to("sub")

    async def play(
        self,
        *turns: Script,
        prompt: str = "Go.",
        tools: Sequence[Any] = ("all",),
        permissions: Any = "auto",
        piece: int = 64,
        secrets: Sequence[str] = (),
        **options: Any,
    ) -> Played:
        """One exchange with a scripted model in the workspace, and all that must hold of it."""
        model = scripted(*turns, piece=piece)
        agent = Agent(model, tools=tools, workspace=self.inside, permissions=permissions, **options)
        log = Log(agent)
        try:
            result = await asyncio.wait_for(agent.send(prompt).result(), 60)
            log.prove(secrets=[CANARY, *secrets], host_paths=[str(self.folder)])
        finally:
            await agent.close()
        self.assert_untouched()
        return Played(result, log)

    async def calls(self, *calls: ScriptedCall, **options: Any) -> list[ToolResult]:
        """The results of calls that a model makes in one message."""
        played = await self.play(list(calls), "Done.", **options)
        assert len(played.results) == len(calls)
        return played.results

    def assert_untouched(self) -> None:
        assert [path.name for path in self.outside.iterdir()] == ["secret.txt"]
        assert (self.outside / "secret.txt").read_text() == f"{CANARY}\nold\n"

    async def heald(
        self, server: ScriptedServer, *words: str, cwd: Path | None = None, wire: str = "chat", **env: str
    ) -> Ran:
        """`heald run` on a scripted server, as a process."""
        model = ["--model", "m", "--wire", wire, "--base-url", f"{server.url}/v1"]
        return await self.run(*model, *words, cwd=cwd, **env)

    async def run(self, *words: str, cwd: Path | None = None, **env: str) -> Ran:
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-P", "-m", "heald_cli.main", "run", "Go.", *words],
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            cwd=cwd or self.elsewhere,
            env=os.environ | {"PYTHONWARNINGS": "error"} | env,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), 60)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Ran(process.returncode, out.decode(), err.decode())

    def prove(self, ran: Ran, *secrets: str) -> None:
        """What a process wrote holds no secret, and its log breaks no invariant."""
        for secret in (CANARY, *secrets):
            assert secret not in ran.out
            assert secret not in ran.err
        assert "Traceback" not in ran.err
        violations = check_log(ran.events, secrets=[CANARY, *secrets], host_paths=[str(self.folder)])
        assert not violations, "\n".join(map(str, violations))
        self.assert_untouched()


class Sink:
    """Counts who connects."""

    def __init__(self) -> None:
        self.connections = 0
        self.heard = b""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.heard += await reader.read(65536)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ntaken")
        writer.close()


@asynccontextmanager
async def sink() -> AsyncGenerator[Sink]:
    """A listening server that nobody may reach."""
    counting = Sink()
    server = await asyncio.start_server(counting.accept, "127.0.0.1", 0)
    counting.port = server.sockets[0].getsockname()[1]
    try:
        yield counting
    finally:
        server.close()
        await server.wait_closed()


class Heartbeat:
    """Beats in the loop, and knows the longest time it could not."""

    def __init__(self) -> None:
        self.lag = 0.0

    async def __aenter__(self) -> "Heartbeat":
        self._task = asyncio.get_running_loop().create_task(self._beat())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _beat(self) -> None:
        while True:
            before = monotonic()
            await asyncio.sleep(0.01)
            self.lag = max(self.lag, monotonic() - before - 0.01)


def needs_sandbox() -> None:
    """Skip where commands cannot be run."""
    reason = Sandbox().available()
    if reason is not None:
        pytest.skip(reason)


def written(events: Sequence[Event]) -> str:
    return "\n".join(encode(event).decode() for event in events)


def alive(marker: str) -> list[int]:
    """The processes that carry the marker in their command line."""
    processes: list[int] = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{entry}/cmdline").read_bytes()
        except OSError:
            continue
        if marker.encode() in line and int(entry) != os.getpid():
            processes.append(int(entry))
    return processes


def exit_code(result: ToolResult) -> int:
    assert result.text.startswith("exit code "), result.text
    return int(result.text.split()[2].rstrip(","))


def reply_with_calls(*made: tuple[str, dict[str, Any]], wire: str = "chat") -> Reply:
    """A turn of a model on a wire that makes these calls."""
    calls = [ToolCall(id=f"call_{next(_numbers)}", name=name, input=arguments) for name, arguments in made]
    return wire_reply(wire, calls=calls)
