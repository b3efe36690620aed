"""A store that fails: another process has the database to itself for as long as a block lasts."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

_LOCK = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
"""


@asynccontextmanager
async def locked(database: Path) -> AsyncGenerator[None]:
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _LOCK, str(database)), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdin is not None
    assert other.stdout is not None
    assert await other.stdout.readline() == b"locked\n"
    try:
        yield
    finally:
        other.stdin.close()
        await other.wait()
