import json
from pathlib import Path


def read_entries(file):
    path = Path(file)
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def write_entries(file, entries):
    Path(file).write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
