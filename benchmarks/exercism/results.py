"""The results of a run as a JSON file: what was measured, where, by which command; written after each outcome."""

import json
import os
import platform
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.exercism.outcome import Outcome

_ROOT = Path(__file__).parents[2]


class Results:
    """Outcomes by exercise and row. `describe` says how they came about."""

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._facts = facts
        self._outcomes: list[dict[str, Any]] = []

    def resume(self, path: Path) -> None:
        """Continue with the outcomes of an earlier run of the same model."""
        earlier = json.loads(path.read_text("utf-8"))
        if earlier["model"] != self._facts["model"]:
            raise SystemExit(f"{path} has results of {earlier['model']}, not of {self._facts['model']}.")
        self._outcomes = earlier["outcomes"]
        self._facts["resumed"] = [*earlier.get("resumed", []), {key: earlier[key] for key in ("command", "commit")}]

    def has(self, exercise: str, row: str) -> bool:
        return any(outcome["exercise"] == exercise and outcome["row"] == row for outcome in self._outcomes)

    def add(self, outcome: Outcome) -> None:
        with self._lock:
            self._outcomes.append(asdict(outcome))
            scratch = self._path.with_name(self._path.name + ".part")
            scratch.write_text(json.dumps(self._facts | {"outcomes": self._outcomes}, indent=1), "utf-8")
            scratch.replace(self._path)

    def table(self, rows: Sequence[str]) -> str:
        """The table of the exercises that all rows have done."""
        done = [{outcome["exercise"] for outcome in self._outcomes if outcome["row"] == row} for row in rows]
        common = set[str].intersection(*done) if done else set[str]()
        lines = [
            f"{len(common)} exercises of the list {self._facts['list']}, {self._facts['model']}\n",
            "| agent | solved first | solved in two | requests | tokens in | tokens out | damaged | idle | seconds |",
            "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for row in rows:
            outcomes = [item for item in self._outcomes if item["row"] == row and item["exercise"] in common]
            lines.append(_table_line(row, outcomes, len(common)))
        return "\n".join(lines)


def _table_line(row: str, outcomes: list[dict[str, Any]], count: int) -> str:
    tries = [attempt for outcome in outcomes for attempt in outcome["tries"]]
    first = sum(outcome["tries"][0]["solved"] for outcome in outcomes)
    solved = sum(attempt["solved"] for attempt in tries)
    sums = {name: sum(attempt[name] for attempt in tries) for name in ("requests", "tokens_in", "tokens_out")}
    damaged = sum(len(attempt["damaged"]) for attempt in tries)
    idle = sum(attempt["idle"] for attempt in tries)
    seconds = sum(attempt["seconds"] for attempt in tries)
    shares = " | ".join(f"{number} ({number / max(count, 1):.1%})" for number in (first, solved))
    return (
        f"| {row} | {shares} | {sums['requests']:,} | {sums['tokens_in']:,} | {sums['tokens_out']:,} "
        f"| {damaged} | {idle} | {seconds:,.0f} |"
    )


def describe_run(program: str, model: str, list_name: str, commit: str | None, server: str) -> dict[str, Any]:
    """What a reader must know to repeat a run of a program of this folder."""
    return {
        "command": " ".join([f"python -m benchmarks.{program}", *sys.argv[1:]]),
        "commit": commit or _find_commit(),
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": os.cpu_count(),
            "processor": _processor(),
            "python": platform.python_version(),
        },
        "versions": {name: _version(name) for name in ("heald-core", "aider-chat")},
        "model": model,
        "server": server,
        "list": list_name,
    }


def _find_commit() -> str:
    words = ["git", "-C", str(_ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed beside this Python"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
