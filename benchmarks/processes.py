"""The processes of a run: the mock server, a worker for each row, fresh interpreters that time imports."""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Self
from urllib.request import ProxyHandler, build_opener

_ENVIRONMENT = Path(__file__).resolve().parents[1] / ".venv-bench" / "bin" / "python"
_IMPORT = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


class TooSlowError(Exception):
    """No answer within the limit."""


class DiedError(Exception):
    """The process ended instead of answering."""


def environment() -> dict[str, str]:
    """This process's environment, without proxies and with every telemetry of the rows switched off."""
    variables = {name: value for name, value in os.environ.items() if not _unwanted(name)}
    return variables | {"OTEL_SDK_DISABLED": "true", "LANGSMITH_TRACING": "false", "PYTHONWARNINGS": "ignore"}


def _unwanted(name: str) -> bool:
    return name.lower().endswith("_proxy") or name == "PYTHONDONTWRITEBYTECODE"


@contextmanager
def mock_server(core: int | None = None) -> Generator[str]:
    """Starts the mock server, on one core if that is said, and gives its base URL."""
    process = _start("benchmarks.mock_server", "--until-eof", verbose=True)
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    try:
        port = json.loads(_pipe(process.stdout).readline())["port"]
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def server_stats(base_url: str) -> dict[str, Any]:
    """What the mock server received, and how late it was, since this was last asked."""
    with build_opener(ProxyHandler({})).open(f"{base_url}/stats", timeout=60) as answer:
        return json.load(answer)


class Worker:
    """A row's process. It is started again after it was stopped for being too slow."""

    def __init__(self, row: str, *, verbose: bool, tree: Path | None = None) -> None:
        """`tree` is another checkout, whose code is measured instead of this one's."""
        self.row = row
        self._verbose = verbose
        self._tree = tree
        self._process = self._start()
        self.hello = self._read(limit=120)

    def ask(self, command: dict[str, Any], limit: float) -> dict[str, Any]:
        """Sends one command and waits for its answer; what goes wrong comes back as `{"error": …}`."""
        try:
            stdin = _pipe(self._process.stdin)
            stdin.write(json.dumps(command) + "\n")
            stdin.flush()
            return self._read(limit)
        except TooSlowError:
            self._restart()
            return {"error": f"took over {limit:g} s"}
        except (DiedError, BrokenPipeError):
            self._restart()
            return {"error": "the process died"}

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _restart(self) -> None:
        self.stop()
        self._process = self._start()
        self._read(limit=120)

    def _start(self) -> subprocess.Popen[str]:
        return _start("benchmarks.worker", self.row, verbose=self._verbose, tree=self._tree)

    def _read(self, limit: float) -> dict[str, Any]:
        stdout = _pipe(self._process.stdout)
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            if not selector.select(limit):
                raise TooSlowError
        line = stdout.readline()
        if not line:
            raise DiedError
        return json.loads(line)


def import_seconds(statement: str, times: int) -> float:
    """The best of some fresh interpreters; the first also writes the byte code that the others read."""
    return min(float(_output("-c", _IMPORT.format(statement))) for _ in range(times))


def first_turn_seconds(row: str, base_url: str, times: int) -> float:
    """From the first import to the end of a first short answer, so that what is imported late counts too."""
    return min(float(_output("-m", "benchmarks.first_turn", row, base_url)) for _ in range(times))


def _output(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout


def _start(module: str, *arguments: str, verbose: bool, tree: Path | None = None) -> subprocess.Popen[str]:
    variables = environment()
    if tree is not None:
        variables["PYTHONPATH"] = os.pathsep.join(str(path) for path in sorted(tree.glob("packages/*/src")))
    return subprocess.Popen(
        [_python(), "-m", module, *arguments],
        cwd=tree,
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=None if verbose else subprocess.DEVNULL,
        text=True,
    )


def _python() -> str:
    """Return an interpreter with the packages of the benchmarks: this one, or that of their environment."""
    if find_spec("orjson") is not None:
        return sys.executable
    if _ENVIRONMENT.exists():
        return str(_ENVIRONMENT)
    raise SystemExit("The packages of the benchmarks are not installed; run `make bench-environment` once.")


def enter_environment(module: str) -> None:
    """Go on as `python -m module` in the environment of the benchmarks, if this interpreter lacks their packages."""
    python = _python()
    if python != sys.executable:
        os.execv(python, [python, "-m", module, *sys.argv[1:]])


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream
