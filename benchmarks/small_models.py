"""The tables of docs/benchmarks.md about small models, from benchmarks/results/exercism.json and small_model.json.

python -m benchmarks.small_models    writes them into the page
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
_BEGIN, _END = "<!-- begin small models -->\n", "<!-- end small models -->\n"
_ROWS = {
    "heald": "heald (defaults: files as text)",
    "heald-tools": "heald, `--edit-format tools`",
    "aider-whole": "aider 0.86.2, whole files",
    "aider-diff": "aider 0.86.2, diffs",
}
_TASKS = {"coding": "first ten", "more": "second ten", "last": "last ten"}


def exercism_table(outcomes: Sequence[Any]) -> str:
    """The rows over the exercises that every row has finished."""
    by_row: dict[str, dict[str, list[Any]]] = {
        row: {done["exercise"]: done["tries"] for done in outcomes if done["row"] == row} for row in _ROWS
    }
    common = [name for name in by_row["heald"] if all(name in done for done in by_row.values())]
    lines = [
        f"| agent, {len(common)} exercises | first try | second try | requests | input tokens | output tokens | "
        "nothing done, exit code 0 |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row, name in _ROWS.items():
        tries = [by_row[row][exercise] for exercise in common]
        every = [attempt for attempts in tries for attempt in attempts]
        first = sum(attempts[0]["solved"] for attempts in tries)
        solved = sum(any(attempt["solved"] for attempt in attempts) for attempts in tries)
        sums = [f"{sum(attempt[key] for attempt in every):,}" for key in ("requests", "tokens_in", "tokens_out")]
        idle = sum(attempt["idle"] and attempt["exit_code"] == 0 for attempt in every)
        share = f"{solved} ({100 * solved / len(common):.0f} %)"
        lines.append(f"| {name} | {first} | {share} | {' | '.join(sums)} | {idle} |")
    return "\n".join(lines)


def pair_sentence(outcomes: Sequence[Any]) -> str:
    """The two best rows over the exercises that both have finished."""
    solved: dict[str, dict[str, bool]] = {
        row: {
            done["exercise"]: any(attempt["solved"] for attempt in done["tries"])
            for done in outcomes
            if done["row"] == row
        }
        for row in ("heald", "aider-whole")
    }
    common = set(solved["heald"]) & set(solved["aider-whole"])
    ours, theirs = (sum(solved[row][name] for name in common) for row in ("heald", "aider-whole"))
    return (
        f"On the {len(common)} exercises that `heald` and `aider, whole files` both finished, they solved {ours} and "
        f"{theirs}."
    )


def tasks_table(tasks: dict[str, Any]) -> str:
    """Our own coding tasks: solved of thirty."""
    sums: dict[str, list[int]] = {}
    for kind in _TASKS:
        for row in tasks[kind]:
            total = sums.setdefault(row["agent"], [0, 0, 0, 0])
            for at, key in enumerate(("solved", "requests", "tokens_in", "tokens_out")):
                total[at] += row[key]
    lines = ["| agent | solved | requests | input tokens | output tokens |", "|---|---:|---:|---:|---:|"]
    lines += [
        f"| {agent} | {total[0]} of 30 | {total[1]} | {total[2]:,} | {total[3]:,} |" for agent, total in sums.items()
    ]
    return "\n".join(lines)


def tools_table(rows: Sequence[Any]) -> str:
    """The tool tasks, with and without a hundred further tools."""
    lines = ["| tools that are offered | solved | requests | input tokens |", "|---|---:|---:|---:|"]
    lines += [f"| {row['agent']} | {row['solved']} of 10 | {row['requests']} | {row['tokens_in']:,} |" for row in rows]
    return "\n".join(lines)


def section() -> str:
    exercism = json.loads((RESULTS / "exercism.json").read_text("utf-8"))
    small = json.loads((RESULTS / "small_model.json").read_text("utf-8"))
    place = f"{exercism['machine']['system']}, {exercism['server']}"
    return f"""{_BEGIN}### Exercises by others

[Exercism's Python track](https://github.com/exercism/python), drawn by a seed that was committed before the run, tests
hidden, a second try with their output. Served by {place}.
The run ended by its time limit: of 80 drawn exercises these were finished by all rows, so slow ones are missing
(results: [exercism.json](../benchmarks/results/exercism.json), command:
`{exercism["command"]}`):

{exercism_table(exercism["outcomes"])}

{pair_sentence(exercism["outcomes"])}
No file was damaged in any row. With tools or diffs the model usually changes nothing, in Heald and in aider. A second
try of `heald run` repeats the instructions; aider continues its conversation.

### Tasks of our own

The first twenty were used to improve Heald, so they flatter it (results:
[small_model.json](../benchmarks/results/small_model.json), command:
`{small["command"]}`):

{tasks_table(small["tasks"])}

Ten tasks with tools, and the same with a hundred further tools: a model of this size finds fewer tools by a
[search](tools.md) than among all descriptions, at a thirtieth of the tokens. Offer a small model few tools.

{tools_table(small["tasks"]["tools"])}
{_END}"""


def replace_section(text: str) -> str:
    """Return the page with the tables of the results."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.name} has no place for the tables: {_BEGIN.strip()} and {_END.strip()}.")
    return before + section() + after


def main() -> int:
    PAGE.write_text(replace_section(PAGE.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
