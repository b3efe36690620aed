"""The table of changes in CONTRIBUTING.md has the counts of the stored commits."""

import json
import re
from pathlib import PurePosixPath

from doc_pages import ROOT

CHANGES: dict[str, list[str]] = json.loads((ROOT / "benchmarks" / "changes.json").read_text("utf-8"))


def _table() -> dict[str, str]:
    """The last cell of each row by its first one; a row may name several changes."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    part = page.partition("## Where to begin")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \|.*\| ([^|]+) \|$", part, re.M)
    return {change: count for names, count in rows[1:] for change in names.split("; ")}


def test_the_table_has_the_counted_files() -> None:
    counts = {change: str(len(files)) for change, files in CHANGES.items()}
    counts["a client protocol"] = "1 folder + 1"
    assert _table() == counts


def test_a_wire_is_three_files_and_a_protocol_one_folder() -> None:
    assert len(CHANGES["a wire for another API"]) <= 3
    folders = {str(PurePosixPath(path).parent) for path in CHANGES["a client protocol"]} - {"packages/server"}
    assert len(folders) == 1
    assert "packages/server/pyproject.toml" in CHANGES["a client protocol"]
