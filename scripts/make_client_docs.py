"""Writes the table of docs/clients.md from what the tests of clients recorded in build/clients. `make clients` runs it.

A client that was not tested this time keeps its row.
"""

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "clients.md"
RESULTS = ROOT / "build" / "clients"
_HEAD = "| client | version | endpoint | features | result |\n|---|---|---|---|---|\n"


def page(text: str, results: list[dict[str, Any]]) -> str:
    """Return the page with the rows of the results in place of those of the same clients."""
    before, _, table = text.partition(_HEAD)
    rows_text, _, after = table.partition("\n\n")
    rows = {_key(line): line for line in rows_text.splitlines() if line.startswith("| ")}
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result in results:
        groups.setdefault((result["client"], result["endpoint"]), []).append(result)
    rows |= {key: _row(key, group) for key, group in groups.items()}
    lines = sorted(rows.values(), key=str.lower)
    return before + _HEAD + "\n".join(lines) + "\n" + (f"\n{after}" if after else "")


def _key(line: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[0], cells[2]


def _row(key: tuple[str, str], group: list[dict[str, Any]]) -> str:
    features = dict.fromkeys(feature.strip() for result in group for feature in result["features"].split(","))
    passed = sum(result["passed"] for result in group)
    outcome = "passes" if passed == len(group) else f"{passed} of {len(group)} tests pass"
    return f"| {key[0]} | {group[-1]['version']} | {key[1]} | {', '.join(features)} | {outcome} |"


def main() -> None:
    results = [json.loads(file.read_text("utf-8")) for file in sorted(RESULTS.glob("*.json"))]
    results.sort(key=lambda result: result["test"])
    PAGE.write_text(page(PAGE.read_text("utf-8"), results), "utf-8")


if __name__ == "__main__":
    main()
