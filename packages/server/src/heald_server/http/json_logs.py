"""Logs as lines of JSON, without secrets."""

import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import IO

from heald.core.json import JsonObject, encode_text
from heald.plugins import installed_distributions
from heald.tools.workspace_secrets import hide_everywhere

_FIELDS = ("request", "session", "exchange", "seq", "epoch", "path", "ms")
_HIDDEN = "[hidden]"


class JsonLogFormatter(logging.Formatter):
    """Formats a record as one line of JSON, without secrets."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__()
        self._secrets = [secret for secret in secrets if secret]

    def format(self, record: logging.LogRecord) -> str:
        line: JsonObject = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "part": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name in _FIELDS if (value := getattr(record, name, None)) is not None}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        text = encode_text(line)
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return hide_everywhere(text)


def configure_logging(level: str, secrets: Sequence[str], stream: IO[str] | None = None) -> None:
    """Write the logs of Heald and of its plugins to a stream, standard error by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLogFormatter(secrets))
    for name in ("heald", *(distribution.replace("-", "_") for distribution in installed_distributions())):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
