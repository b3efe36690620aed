"""The tables of docs/benchmarks.md about small models, from benchmarks/results/exercism*.json and small_model.json.

python -m benchmarks.small_models    writes them into the page
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.exercism.choose import choose

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
_BEGIN, _END = "<!-- begin small models -->\n", "<!-- end small models -->\n"
_ROWS = {
    "heald-fresh": "heald (defaults: files as text)",
    "aider-whole": "aider 0.86.2, whole files",
}
_FORMATS = {
    "heald": "heald, files as text, as it was then",
    "heald-tools": "heald, `--edit-format tools`",
    "aider-whole": "aider 0.86.2, whole files",
    "aider-diff": "aider 0.86.2, diffs",
}
_WAYS = {
    "heald": "as before",
    "heald-report": "reports of tests are shortened, code is checked",
    "heald-fresh": "the same, and repeated code that fails is hidden",
    "heald-plain-report": "shortened, checked; short instructions without an example",
    "heald-plain-fresh": "shortened, checked, hidden; short instructions without an example",
    "heald-steps-fresh": "shortened, checked, hidden; short instructions that ask for a plan",
}
"""The ways to ask a small model that were compared on the development list."""
_RESULTS = (
    "exercism",
    "exercism_again",
    "exercism_development",
    "exercism_formats",
    "small_model",
    "small_model_tools",
)
_PRESENT = {"heald": "heald (defaults: files as text)", "aider-whole": "aider 0.86.2, whole files"}
_TASKS = {"coding": "first ten", "more": "second ten", "last": "last ten"}


Tries = Mapping[str, Mapping[str, Sequence[Any]]]
"""The tries of the exercises that all rows have finished, by row and exercise."""


def common_tries(outcomes: Sequence[Any], rows: Sequence[str]) -> Tries:
    tries = {row: {done["exercise"]: done["tries"] for done in outcomes if done["row"] == row} for row in rows}
    return {
        row: {name: done[name] for name in done if all(name in other for other in tries.values())}
        for row, done in tries.items()
    }


def exercism_table(tries: Tries, names: Mapping[str, str]) -> str:
    """The rows over the exercises that every row has finished."""
    count = len(next(iter(tries.values())))
    lines = [
        f"| agent, {count} exercises | first try | in two tries | requests | input tokens | output tokens | "
        "files damaged | nothing done, exit code 0 | exit code 1 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row, by_exercise in tries.items():
        every = [attempt for attempts in by_exercise.values() for attempt in attempts]
        first = sum(attempts[0]["solved"] for attempts in by_exercise.values())
        sums = [f"{sum(attempt[key] for attempt in every):,}" for key in ("requests", "tokens_in", "tokens_out")]
        damaged = sum(len(attempt["damaged"]) for attempt in every)
        idle = sum(attempt["idle"] and attempt["exit_code"] == 0 for attempt in every)
        failed = sum(attempt["exit_code"] == 1 for attempt in every)
        share = f"{len(_solved(by_exercise))} ({100 * len(_solved(by_exercise)) / count:.0f} %)"
        lines.append(f"| {names[row]} | {first} | {share} | {' | '.join(sums)} | {damaged} | {idle} | {failed} |")
    return "\n".join(lines)


def _solved(by_exercise: Mapping[str, Sequence[Any]]) -> set[str]:
    return {name for name, attempts in by_exercise.items() if any(attempt["solved"] for attempt in attempts)}


def pair_sentence(tries: Tries) -> str:
    """What one of two rows solved and the other did not."""
    ours, theirs = (_solved(by_exercise) for by_exercise in tries.values())
    return (
        f"{len(ours & theirs)} exercises were solved by both, {len(ours - theirs)} only by Heald and "
        f"{len(theirs - ours)} only by aider."
    )


def ways_table(outcomes: Sequence[Any]) -> str:
    """The development list: how many exercises each way to ask a small model solved."""
    tries = common_tries(outcomes, list(_WAYS))
    best = choose(outcomes, list(_WAYS))
    count = len(tries[best])
    lines = [f"| way to ask, {count} exercises | first try | in two tries | tokens |", "|---|---:|---:|---:|"]
    for row, by_exercise in tries.items():
        every = [attempt for attempts in by_exercise.values() for attempt in attempts]
        tokens = sum(attempt["tokens_in"] + attempt["tokens_out"] for attempt in every)
        first = sum(attempts[0]["solved"] for attempts in by_exercise.values())
        name = f"**{_WAYS[row]}**" if row == best else _WAYS[row]
        lines.append(f"| {name} | {first} | {len(_solved(by_exercise))} | {tokens:,} |")
    return "\n".join(lines)


def earlier_sentence(tries: Tries, earlier: Sequence[Any]) -> str:
    """The exercises that an earlier run has finished too, with the way to ask of that time."""
    before = common_tries(earlier, ["heald", "aider-whole"])
    names = set(before["heald"]) & set(tries["heald-fresh"])
    ours, ours_before = (len(_solved(done) & names) for done in (tries["heald-fresh"], before["heald"]))
    theirs, theirs_before = (len(_solved(done) & names) for done in (tries["aider-whole"], before["aider-whole"]))
    is_better = ours - ours_before > theirs - theirs_before
    return (
        f"Of the {len(names)} exercises that both had finished in an earlier run too, Heald solved {ours_before} then "
        f"and {ours} now,\naider {theirs_before} and {theirs}"
        + ("." if is_better else ": the gain on the development list below does not show here.")
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
    measured, again, development, formats, small, small_tools = (
        json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in _RESULTS
    )
    tries = common_tries(measured["outcomes"], list(_ROWS))
    return f"""{_BEGIN}### Exercises by others

[Exercism's Python track](https://github.com/exercism/python), drawn by a seed that was committed before the run, tests
hidden, a second try with their output. The run ended by its time limit: of 80 drawn exercises these were finished by
both agents (commit {measured["commit"][:7]}, results: [exercism.json](../benchmarks/results/exercism.json), command:
`{measured["command"]}`):

{exercism_table(tries, _ROWS)}

{pair_sentence(tries)}
{earlier_sentence(tries, formats["outcomes"])}
A second try of `heald run` repeats the instructions; aider continues its conversation.

How Heald asks a small model was chosen on 47 other exercises, by a rule that was committed before the run: most solved,
then fewest tokens (`python -m benchmarks.exercism.choose`). These were finished by all rows; differences of one or two
say little (results: [exercism_development.json](../benchmarks/results/exercism_development.json)):

{ways_table(development["outcomes"])}

At this commit the ways were chosen by a setting; the best one is the default since. Since then a file with
hidden functions keeps its docstrings and the comments outside of them, only the file that was repeated is hidden, and
an answer that leaves a function empty is not written. With these changes the list of the first table was run again, so
this is its second use; the machine was released before the run ended (commit {again["commit"][:7]}, results:
[exercism_again.json](../benchmarks/results/exercism_again.json)):

{exercism_table(common_tries(again["outcomes"], list(_PRESENT)), _PRESENT)}

An earlier run compares edit formats (commit {formats["commit"]}, results:
[exercism_formats.json](../benchmarks/results/exercism_formats.json)). With tools or diffs the model usually changes
nothing, in Heald and in aider:

{exercism_table(common_tries(formats["outcomes"], list(_FORMATS)), _FORMATS)}

All runs were served by a program for one GPU that is not part of the repository: {measured["server"]}.
`--local` serves the same weights with llama.cpp; its arithmetic differs, so single answers do too.

### Tasks of our own

The first twenty were used to improve Heald, so they flatter it. They were measured before the way to ask was changed
(commit {small["commit"]}, results:
[small_model.json](../benchmarks/results/small_model.json), command:
`{small["command"]}`):

{tasks_table(small["tasks"])}

Ten tasks with tools, and the same with a hundred further tools, all described or
[chosen by the words of the request](tools.md#many-tools) (commit {small_tools["commit"]}, results:
[small_model_tools.json](../benchmarks/results/small_model_tools.json), command:
`{small_tools["command"]}`). A model of this size loses half of the tasks among a hundred descriptions:

{tools_table(small_tools["tasks"])}
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
