"""Logs: one line of JSON for each thing that happens, with the session and the exchange it is about, and no secret."""

import logging
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import IO

from weft.core.json import JsonObject, encode_text

_FIELDS = ("request", "session", "exchange", "seq", "epoch", "path", "ms")
_HIDDEN = "[hidden]"


class JsonLines(logging.Formatter):
    """Each record on one line. What is secret is taken out of it, wherever it stands."""

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
        return text


def write_logs(level: str, secrets: Sequence[str], stream: IO[str] | None = None) -> None:
    """Let all parts of Weft write to a stream, standard error by default."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines(secrets))
    logger = logging.getLogger("weft")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
