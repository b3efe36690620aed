"""How much CPU a start costs: commands of Heald until they are useful, beside Python and other clients.

python -m benchmarks.startup [--rounds 10] [--rows run,help]

All rows take turns in every round and the least counts. CPU is that of the whole process, read from its clock when the
moment comes: nothing is added to the program. A start up to the first request ends when the request has arrived at a
provider on the loopback address, and the provider is a new one each time: a row before may have left connections.
Linux only.
"""

import argparse
import asyncio
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.processes import environment
from benchmarks.report import machine, table
from heald.config.paths import DATABASE
from heald.sessions.session_info import SessionInfo
from heald.sessions.sqlite import SqliteStore

_ROOT = Path(__file__).resolve().parents[1]
_PEERS = _ROOT / ".venv-bench/bin/python"
_HEALD = Path(sys.executable).with_name("heald")
_PROMPT = b"\x1b[?2004h"  # a line editor is ready for input: it asks the terminal to mark what is pasted
_SECONDS = 60.0
_IDLE = "idle"
_IDLE_SESSIONS = 20_000
_TURN = "import sys; sys.argv[1:] = ['{}', 'http://127.0.0.1:PORT']; from benchmarks.first_turn import main; main()"


class NotMeasured(Exception):
    """A row that cannot be measured on this machine."""


@dataclass(frozen=True)
class Start:
    """A command, and the moment at which its start is over."""

    name: str
    words: tuple[str, ...]
    moment: Callable[["Provider", tuple[str, ...], str], float]


class Provider:
    """A model's endpoint that accepts a request and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(_SECONDS)
        self.port: int = self._listener.getsockname()[1]

    def close(self) -> None:
        self._listener.close()

    def wait_for_request(self) -> socket.socket:
        """Wait for the head of a request. Returns the connection."""
        connection, _ = self._listener.accept()
        connection.settimeout(_SECONDS)
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        return connection


def read_cpu(pid: int) -> float:
    """The seconds of CPU that a running process has used, all threads together (`clock_getcpuclockid`)."""
    return time.clock_gettime((~pid << 3) | 2)


def _start(words: tuple[str, ...], home: str, terminal: int = subprocess.DEVNULL) -> "subprocess.Popen[bytes]":
    env = environment() | {"HOME": home, "TERM": "xterm-256color", "PYTHONPATH": str(_ROOT)}
    return subprocess.Popen(
        words, cwd=home, env=env, start_new_session=True, stdin=terminal, stdout=terminal, stderr=terminal
    )


def until_exit(_provider: Provider, words: tuple[str, ...], home: str) -> float:
    process = _start(words, home)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise NotMeasured(f"it ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def until_request(provider: Provider, words: tuple[str, ...], home: str) -> float:
    process = _start(words, home)
    try:
        with provider.wait_for_request():
            return read_cpu(process.pid)
    except TimeoutError:
        raise NotMeasured("no request came") from None
    finally:
        process.kill()
        process.wait()


def until_prompt(_provider: Provider, words: tuple[str, ...], home: str) -> float:
    ours, its = os.openpty()
    process = _start(words, home, its)
    os.close(its)
    output = b""
    try:
        while _PROMPT not in output:
            if not select.select([ours], [], [], _SECONDS)[0]:
                raise NotMeasured("no prompt came")
            output += os.read(ours, 65536)
        return read_cpu(process.pid)
    except OSError:
        raise NotMeasured(f"it ended: {output[-200:]!r}") from None
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def until_listening(_provider: Provider, words: tuple[str, ...], home: str) -> float:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    process = _start((*words, "--port", str(port)), home)
    until = time.monotonic() + _SECONDS
    try:
        while time.monotonic() < until and process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    return read_cpu(process.pid)
            except OSError:
                time.sleep(0.005)
        raise NotMeasured("it does not listen")
    finally:
        process.kill()
        process.wait()


def list_starts() -> list[Start]:
    """The rows: an interpreter, Heald, and the other clients of the benchmarks if they are installed."""
    python, heald = sys.executable, str(_HEALD)
    model = ("--model", "m", "--base-url", "http://127.0.0.1:PORT/v1")
    starts = [
        Start("python -c pass", (python, "-c", "pass"), until_exit),
        Start("import asyncio, msgspec", (python, "-c", "import asyncio, msgspec"), until_exit),
        Start("import heald", (python, "-c", "import heald"), until_exit),
        Start("heald --help", (heald, "--help"), until_exit),
        Start("heald run, to the first request", (heald, "run", *model, "Hi"), until_request),
        Start("heald chat, to the prompt", (heald, "chat", *model), until_prompt),
        Start("heald serve, to listening", (heald, "serve", "--no-open", *model), until_listening),
        Start(
            f"heald serve with {_IDLE_SESSIONS:,} idle sessions",
            (heald, "serve", "--no-open", "--data", _IDLE, *model),
            until_listening,
        ),
        Start("heald doctor", (heald, "doctor"), until_exit),
    ]
    for name in ("bare", "heald-agent", "openai", "pydantic-ai", "openai-agents", "langgraph"):
        words = (str(_PEERS), "-c", _TURN.format(name))
        starts.append(Start(f"a program with {name}, to the first request", words, until_request))
    if find_spec("PIL") is not None:  # of the extra `studio`
        words = (heald, "build", "--force", *model, "--text", "Hi")
        starts.append(Start("heald build, to the first request", words, until_request))
    if aider := shutil.which("aider"):
        starts.append(Start("aider --help", (aider, "--help"), until_exit))
    return starts


async def _store_sessions(path: Path, count: int) -> None:
    path.parent.mkdir()
    store = SqliteStore(path, durable=False)
    for first in range(0, count, 500):
        infos = [SessionInfo(id=f"s{number}", title=f"Session {number}") for number in range(first, first + 500)]
        await asyncio.gather(*(store.create(info) for info in infos))
    await store.close()


def measure(starts: list[Start], rounds: int) -> dict[str, float | str]:
    """The least seconds of CPU of each start, or why it was not measured."""
    measured: dict[str, float | str] = {}
    with tempfile.TemporaryDirectory() as home:
        if any(_IDLE in start.words for start in starts):
            asyncio.run(_store_sessions(Path(home, _IDLE, DATABASE), _IDLE_SESSIONS))
        for turn in range(rounds + 1):  # the first round compiles modules and does not count
            for start in starts:
                if isinstance(measured.get(start.name), str):
                    continue
                provider = Provider()
                words = tuple(word.replace("PORT", str(provider.port)) for word in start.words)
                try:
                    seconds = start.moment(provider, words, home)
                except (NotMeasured, FileNotFoundError) as error:
                    measured[start.name] = str(error)
                    continue
                finally:
                    provider.close()
                best = measured.get(start.name, seconds)
                measured[start.name] = seconds if turn <= 1 or isinstance(best, str) else min(best, seconds)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rows", default="", help="words that the names of the rows hold, separated by commas")
    parser.add_argument("--quick", action="store_true", help="three rounds")
    options = parser.parse_args()
    filters = [word for word in options.rows.split(",") if word]
    starts = [start for start in list_starts() if not filters or any(word in start.name for word in filters)]
    measured = measure(starts, 3 if options.quick else options.rounds)
    rows = [[name, took if isinstance(took, str) else f"{took * 1000:.0f} ms"] for name, took in measured.items()]
    print(table(["start", "CPU"], rows))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
