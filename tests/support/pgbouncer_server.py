"""A real PgBouncer before a PostgreSQL, for tests and benchmarks."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from postgres_server import PASSWORD, PostgresServer, free_port


class PgBouncer:
    """Shares a few sessions of a database among many connections, on a free port."""

    def __init__(self, program: str, database: PostgresServer, folder: Path, *, mode: str, sessions: int) -> None:
        self._program = program
        self._folder = folder
        self._config = folder / "pgbouncer.ini"
        self._as_user = _account() if os.geteuid() == 0 else None
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "users").write_text(f'"heald" "{PASSWORD}"\n')
        self._config.write_text(
            f"[databases]\n* = host=127.0.0.1 port={database.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = plain\nauth_file = {folder / 'users'}\npool_mode = {mode}\n"
            f"default_pool_size = {sessions}\nmax_client_conn = 1000\nserver_login_retry = 0.2\n"
        )
        if self._as_user is not None:
            for path in (folder, self._config, folder / "users"):
                shutil.chown(path, self._as_user)

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        return f"postgresql://heald:{quote(PASSWORD)}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, str(self._config)], user=self._as_user, cwd=self._folder, stdout=log, stderr=log
            )
        for _ in range(300):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError(f"PgBouncer does not start: {self.log()[-2000:]}")

    def stop(self) -> None:
        """Stop it at once: its connections break."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def log(self) -> str:
        return (self._folder / "log").read_text()


def find_pgbouncer() -> str | None:
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")


@contextmanager
def running_pgbouncer(
    database: PostgresServer, *, mode: str = "transaction", sessions: int = 4
) -> Generator[PgBouncer]:
    """A PgBouncer before a database, with so many sessions of it for each of its databases."""
    program = find_pgbouncer()
    if program is None:
        import pytest  # benchmarks use this module without it

        pytest.skip("PgBouncer is not installed; install the package pgbouncer.")
    folder = Path(tempfile.mkdtemp(prefix="heald-pgbouncer-"))
    pooler = PgBouncer(program, database, folder, mode=mode, sessions=sessions)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _account() -> str | None:
    """The user that it runs as for root."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    return None
