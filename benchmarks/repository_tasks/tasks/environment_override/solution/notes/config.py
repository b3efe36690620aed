"""The settings of the notes server."""

import json
import os
from pathlib import Path

DEFAULTS = {"host": "127.0.0.1", "port": 7000, "folder": "notes"}


def load_config(path="notes.json"):
    """Defaults, then what the file says."""
    config = dict(DEFAULTS)
    file = Path(path)
    if file.exists():
        config.update(json.loads(file.read_text("utf-8")))
    value = os.environ.get("NOTES_PORT")
    if value is not None:
        if not value.isdecimal() or not 1 <= int(value) <= 65535:
            raise ValueError(f"NOTES_PORT is {value!r}; set it to a number from 1 to 65535.")
        config["port"] = int(value)
    return config
