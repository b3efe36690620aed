"""Logs of commands as lines of text, without secrets."""

import logging
import sys
from pathlib import Path

from heald.tools.workspace_secrets import hide_everywhere


class LogFormatter(logging.Formatter):
    """Formats a record as text. Secret values of the environment and of open workspaces are hidden."""

    def __init__(self, form: str = "%(asctime)s %(name)s %(message)s") -> None:
        super().__init__(form)

    def format(self, record: logging.LogRecord) -> str:
        return hide_everywhere(super().format(record))


def log_to(level: str, file: Path | None = None) -> None:
    """Write all logs of this process to a file, or to standard error."""
    handler = logging.StreamHandler(sys.stderr) if file is None else logging.FileHandler(file, delay=True)
    handler.setFormatter(LogFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler])


def hide_in_warnings() -> None:
    """Hide secret values in the warnings of a process that has no log: they go to standard error."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(LogFormatter("%(message)s"))
