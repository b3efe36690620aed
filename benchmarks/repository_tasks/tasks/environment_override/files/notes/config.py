"""The settings of the notes server."""

import json
from pathlib import Path

DEFAULTS = {"host": "127.0.0.1", "port": 7000, "folder": "notes"}


def load_config(path="notes.json"):
    """Defaults, then what the file says."""
    config = dict(DEFAULTS)
    file = Path(path)
    if file.exists():
        config.update(json.loads(file.read_text("utf-8")))
    return config
