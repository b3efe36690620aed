"""Where files are."""

import os
from pathlib import Path

_PREFIX = "LEDGER"


def home():
    return Path(os.environ.get("LEDGER_HOME", "~/.ledger")).expanduser()


def file_path(kind):
    """The path of a file; the environment may move every kind of file by its own variable."""
    return Path(os.environ.get(f"{_PREFIX}_{kind.upper()}_PATH") or home() / f"{kind}.bin")
