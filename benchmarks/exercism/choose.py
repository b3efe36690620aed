"""Chooses the best row of a run by a rule that was written before it: most solved, then fewest tokens, then the first.

    python -m benchmarks.exercism.choose results.json --row heald --row heald-report

Only exercises count that all of these rows have done. Prints the name of the row.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def choose(outcomes: Sequence[Mapping[str, Any]], rows: Sequence[str]) -> str:
    """Return the name of the best of some rows."""
    tries = {row: {item["exercise"]: item["tries"] for item in outcomes if item["row"] == row} for row in rows}
    common = set[str].intersection(*(set(by_exercise) for by_exercise in tries.values()))

    def rank(row: str) -> tuple[int, int]:
        attempts = [attempt for exercise in common for attempt in tries[row][exercise]]
        solved = sum(attempt["solved"] for attempt in attempts)  # a solved exercise has no further try
        return -solved, sum(attempt["tokens_in"] + attempt["tokens_out"] for attempt in attempts)

    return min(rows, key=rank)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exercism.choose", description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--row", action="append", required=True, help="a row that can be chosen; repeat it")
    options = parser.parse_args()
    print(choose(json.loads(options.results.read_text("utf-8"))["outcomes"], options.row))


if __name__ == "__main__":
    main()
