"""Applies the migrations that a database does not have yet: python migrate.py FILE"""

import sqlite3
import sys
from pathlib import Path


def migrate(connection, folder="migrations"):
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for path in sorted(Path(folder).glob("[0-9][0-9][0-9]_*.sql")):
        number = int(path.name[:3])
        if number > version:
            connection.executescript(path.read_text("utf-8"))
            connection.execute(f"PRAGMA user_version = {number}")
    connection.commit()


if __name__ == "__main__":
    migrate(sqlite3.connect(sys.argv[1]))
