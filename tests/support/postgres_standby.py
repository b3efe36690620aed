"""A real PostgreSQL that follows another one by streaming replication, and can take over."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from postgres_server import PASSWORD, PostgresServer, require_programs, running_postgres

_NAME = "standby"


class StandbyServer(PostgresServer):
    """A copy of a primary, which follows it until it is promoted."""

    def __init__(self, programs: Path, folder: Path, primary: PostgresServer) -> None:
        super().__init__(programs, folder)
        self._primary = primary

    def create(self) -> None:
        if self._as_user is not None:
            shutil.chown(self._folder, self._as_user)
        primary = f"{self._primary.url}?application_name={_NAME}"
        self._run("pg_basebackup", "-d", primary, "-D", str(self._data), "-R", "-X", "stream", "--checkpoint=fast")

    def promote(self) -> None:
        """Make it a primary."""
        self._run("pg_ctl", "promote", "-s", "-w", "-D", str(self._data))


class StandbyPair:
    """A primary and its standby, and the address that leads to whichever accepts writes."""

    def __init__(self, primary: PostgresServer, standby: StandbyServer) -> None:
        self.primary = primary
        self.standby = standby

    @property
    def url(self) -> str:
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        return f"postgresql://heald:{quote(PASSWORD)}@{hosts}/postgres"

    def take_over(self, *, frozen: bool = False) -> None:
        """Lose the primary, by a crash or, with `frozen`, without closing a connection; and promote the standby."""
        if frozen:
            self.primary.freeze()
        else:
            self.primary.stop(kill=True)
        self.standby.promote()


@contextmanager
def running_pair(*, synchronous: bool = True) -> Generator[StandbyPair]:
    """A primary and a standby. A synchronous standby has every commit before it is acknowledged."""
    programs = require_programs()
    with running_postgres() as primary:
        folder = Path(tempfile.mkdtemp(prefix="heald-pg-standby-"))
        standby = StandbyServer(programs, folder, primary)
        try:
            standby.create()
            standby.start()
            _wait_replicating(programs, primary)
            if synchronous:
                _query(programs, primary, f"ALTER SYSTEM SET synchronous_standby_names = '{_NAME}'")
                _query(programs, primary, "SELECT pg_reload_conf()")
            yield StandbyPair(primary, standby)
        finally:
            standby.stop(kill=True)
            shutil.rmtree(folder, ignore_errors=True)


def _wait_replicating(programs: Path, primary: PostgresServer) -> None:
    for _ in range(300):
        if _query(programs, primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1":
            return
        time.sleep(0.1)
    raise RuntimeError("The standby does not follow its primary.")


def _query(programs: Path, server: PostgresServer, query: str) -> str:
    command = [str(programs / "psql"), "-X", "-A", "-t", "-d", server.bare_url, "-c", query]
    environment = {**os.environ, "PGPASSWORD": PASSWORD}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()
