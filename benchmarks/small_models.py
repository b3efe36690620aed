"""The tables of docs/benchmarks.md about small models, from the files of benchmarks/results that `_RESULTS` names.

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
    "exercism_example",
    "exercism_example_development",
    "exercism_expert_development",
    "exercism_expert",
    "exercism_repair_development",
    "exercism_redrawn",
    "exercism_repeated_answers",
    "exercism_ways_development",
    "exercism_widened",
    "repository_tasks",
    "small_model",
    "small_model_tools",
    "small_model_more_tools",
    "small_model_development_tools",
    "small_model_tools_again",
    "small_model_development_answers",
    "small_model_tool_answers",
    "memory",
)
_PRESENT = {"heald": "heald (defaults: files as text)", "aider-whole": "aider 0.86.2, whole files"}
_EXAMPLE_ROWS = {**_PRESENT, "heald": "heald, with the further example"}
_EXAMPLE_WAYS = {"heald": "as it is", "heald-example": "an example in which empty functions are filled in"}
_EXPERT_WAYS = {
    "heald": "as it is, in other words",
    "heald-expert": "“You are an expert software developer”, to explain what must change in any length",
    "heald-apart": "the files in a message before that of the request",
    "heald-expert-apart": "both",
}
_EXPERT_ROWS = {
    "heald": "heald (defaults: files as text)",
    "heald-expert": "heald, “You are an expert software developer”",
    "aider-whole": "aider 0.86.2, whole files",
}
_REPAIR_WAYS = {
    "heald": "as it was",
    "heald-repair": "the code, then empty functions and examples, then the code; at most three versions",
    "heald-repair-emptied": "empty functions and examples first",
    "heald-repair-five": "the code first, at most five versions",
    "heald-repair-emptied-five": "empty functions first, at most five versions",
    "heald-repair-one": "the code first, three versions, only one failing test is shown",
}
_REPAIR_ROWS = {
    "heald": "heald, with the repair",
    "heald-before": "heald (defaults as they were)",
    "aider-whole": "aider 0.86.2, whole files",
}
_FIFTH_WAYS = {
    "heald": "as it is",
    "heald-mends": "the faults below are mended",
    "heald-unseen": "mended; after an answer without a file, failing code is shown without the bodies of its functions",
    "heald-thrice": "mended; two reminders instead of one",
    "heald-last": "mended; the files stand behind the request",
    "heald-bare": "mended; no example",
}
_REPOSITORY_ROWS = {**_FORMATS, "heald": "heald (defaults: files as text)"}
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


_LONG_TRY = 5_000


def long_tries_sentence(tries: Tries) -> str:
    """What two rows spend, and on how many tries with very long answers."""
    totals: list[int] = []
    long_tries: list[int] = []
    for by_exercise in tries.values():
        every = [attempt for attempts in by_exercise.values() for attempt in attempts]
        totals.append(sum(attempt["tokens_in"] + attempt["tokens_out"] for attempt in every))
        long_tries.append(sum(attempt["tokens_out"] > _LONG_TRY for attempt in every))
    return (
        f"Heald uses {totals[0]:,} tokens and aider {totals[1]:,}; {long_tries[0]} tries of Heald and {long_tries[1]} "
        f"of aider have answers of more\nthan {_LONG_TRY:,} tokens, which no solution needs:"
    )


def tokens_sentence(tries: Tries) -> str:
    """What two rows spend."""
    ours, theirs = (
        sum(attempt["tokens_in"] + attempt["tokens_out"] for attempts in by_exercise.values() for attempt in attempts)
        for by_exercise in tries.values()
    )
    return f"Heald uses {ours:,} tokens and aider {theirs:,}."


def repeated_sentence(rows: Sequence[Any], row: str) -> str:
    """The cost of the answers to a row if those that repeat themselves are stopped."""
    counts = next(item for item in rows if item["row"] == row)
    return (
        f"of its {counts['answers']} answers {counts['stopped']} are stopped, {counts['stopped_that_end']} of which "
        f"ended by itself,\nand its output tokens become {counts['tokens_until_stopped']:,} instead of "
        f"{counts['tokens_out']:,}"
    )


def pair_sentence(tries: Tries) -> str:
    """What one of two rows solved and the other did not."""
    ours, theirs = (_solved(by_exercise) for by_exercise in tries.values())
    return (
        f"{len(ours & theirs)} exercises were solved by both, {len(ours - theirs)} only by Heald and "
        f"{len(theirs - ours)} only by aider."
    )


def repository_table(tries: Tries) -> str:
    """The tasks in repositories, which have one try. A question is solved by an answer that changes nothing."""
    count = len(next(iter(tries.values())))
    lines = [
        f"| agent, {count} tasks | solved | requests | input tokens | output tokens | files damaged | "
        "a change asked for, nothing done, exit code 0 | exit code 1 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row, by_task in tries.items():
        every = [attempts[0] for attempts in by_task.values()]
        changes = [attempts[0] for name, attempts in by_task.items() if not name.startswith("question_")]
        sums = [f"{sum(attempt[key] for attempt in every):,}" for key in ("requests", "tokens_in", "tokens_out")]
        damaged = sum(len(attempt["damaged"]) for attempt in every)
        idle = sum(attempt["idle"] for attempt in changes)
        failed = sum(attempt["exit_code"] == 1 for attempt in every)
        cells = [str(len(_solved(by_task))), *sums, str(damaged), str(idle), str(failed)]
        lines.append(f"| {_REPOSITORY_ROWS[row]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def ways_table(outcomes: Sequence[Any], ways: Mapping[str, str] = _WAYS) -> str:
    """The development list: how many exercises each way to ask a small model solved."""
    tries = common_tries(outcomes, list(ways))
    best = choose(outcomes, list(ways))
    count = len(tries[best])
    lines = [f"| way to ask, {count} exercises | first try | in two tries | tokens |", "|---|---:|---:|---:|"]
    for row, by_exercise in tries.items():
        every = [attempt for attempts in by_exercise.values() for attempt in attempts]
        tokens = sum(attempt["tokens_in"] + attempt["tokens_out"] for attempt in every)
        first = sum(attempts[0]["solved"] for attempts in by_exercise.values())
        name = f"**{ways[row]}**" if row == best else ways[row]
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


def tools_table(rows: Sequence[Any], count: int = 10) -> str:
    """The tool tasks, with and without a hundred further tools."""
    lines = ["| tools that are offered | solved | requests | input tokens |", "|---|---:|---:|---:|"]
    lines += [
        f"| {row['agent']} | {row['solved']} of {count} | {row['requests']} | {row['tokens_in']:,} |" for row in rows
    ]
    return "\n".join(lines)


def offers_table(ways: Sequence[Any]) -> str:
    """The tool tasks for development: what each way to offer tools solved."""
    rows = ways[0]["rows"]
    heads = ("four tools", "100 more, by a search", "100 more of four services")
    cells = " | ".join(f"{head}, {row['tasks']} tasks" for head, row in zip(heads, rows, strict=True))
    lines = [f"| way to offer tools | {cells} |", "|---|---:|---:|---:|"]
    lines += [f"| {way['way']} | {' | '.join(str(row['solved']) for row in way['rows'])} |" for way in ways]
    return "\n".join(lines)


def answers_table(before: Sequence[Any], now: Sequence[Any]) -> str:
    """The thirty tool tasks, with the words of before and of now."""
    lines = [
        "| tools that are offered | solved before | solved | requests | input tokens |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['agent']} | {earlier['solved']} of 30 | {row['solved']} of 30 | {row['requests']} | "
        f"{row['tokens_in']:,} |"
        for earlier, row in zip(before, now, strict=True)
    ]
    return "\n".join(lines)


def same_tasks_sentence(solved_tasks: Mapping[str, Sequence[str]]) -> str:
    """Which tasks a search loses, compared with the four tools alone and with all tools described."""
    four, many, mixed, described = (set(names) for names in solved_tasks.values())
    return (
        f"Compared with the four tools alone, the search loses {len(four - many)} tasks and gains {len(many - four)}; "
        f"with those of four services it loses\n{len(four - mixed)} and gains {len(mixed - four)}. Of the "
        f"{len(described)} tasks that are solved with all tools described, the search solves {len(described & many)} "
        f"and {len(described & mixed)}."
    )


def summed_rows(kinds: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The rows of several kinds of tasks as one table."""
    keys = ("solved", "requests", "tokens_in")
    return [
        {"agent": rows[0]["agent"]} | {key: sum(row[key] for row in rows) for key in keys}
        for rows in zip(*kinds.values(), strict=True)
    ]


def memory_table(rows: Sequence[Any]) -> str:
    """Facts that are known after compactions."""
    lines = ["| memory | compactions | requests | facts known |", "|---|---:|---:|---:|"]
    lines += [
        f"| {'yes' if row['memory'] else 'no'} | {row['compactions']} | {row['requests']} | "
        f"{row['right']} of {len(row['answers'])} |"
        for row in rows
    ]
    return "\n".join(lines)


def section() -> str:
    stored = {name: json.loads((RESULTS / f"{name}.json").read_text("utf-8")) for name in _RESULTS}
    measured, again, development = (stored[name] for name in ("exercism", "exercism_again", "exercism_development"))
    formats, example, ways = (
        stored[name] for name in ("exercism_formats", "exercism_example", "exercism_example_development")
    )
    expert, offers, tools_again = (
        stored[name]
        for name in ("exercism_expert_development", "small_model_development_tools", "small_model_tools_again")
    )
    repository, facts = stored["repository_tasks"], stored["memory"]
    expert_run, words, answers = (
        stored[name] for name in ("exercism_expert", "small_model_development_answers", "small_model_tool_answers")
    )
    sampled = {
        name: " and ".join(", ".join(map(str, solved)) for solved in passes)
        for name, passes in answers["sampled"].items()
    }
    small, small_tools, more_tools = (
        stored[name] for name in ("small_model", "small_model_tools", "small_model_more_tools")
    )
    repair, redrawn, repeated = (
        stored[name] for name in ("exercism_repair_development", "exercism_redrawn", "exercism_repeated_answers")
    )
    fifth, widened = stored["exercism_ways_development"], stored["exercism_widened"]
    widened_tries = common_tries(widened["outcomes"], list(_PRESENT))
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

A further way to ask was compared on the development list, by the same rule: a file with empty functions is preceded by
an example in which such functions are filled in, instead of one in which a line is corrected (commit
{ways["commit"]}, results:
[exercism_example_development.json](../benchmarks/results/exercism_example_development.json)):

{ways_table(ways["outcomes"], _EXAMPLE_WAYS)}

The rule names it for its fewer tokens. It was then run on the first list, its third use, up to its time limit (results:
[exercism_example.json](../benchmarks/results/exercism_example.json)). It solved no more in the first try than the runs
above on the exercises that they share, and three fewer in two tries, so it was not kept:

{exercism_table(common_tries(example["outcomes"], list(_PRESENT)), _EXAMPLE_ROWS)}

Three more ways were compared on the development list (commit {expert["commit"]}, results:
[exercism_expert_development.json](../benchmarks/results/exercism_expert_development.json)). The rule names the first of
them, on 21 of 47 exercises and against instructions that had other words than the present ones:

{ways_table(expert["outcomes"], _EXPERT_WAYS)}

It was then run on the first list, the fourth use of that list, at the same time as the present way and aider (commit
{expert_run["commit"]}, results: [exercism_expert.json](../benchmarks/results/exercism_expert.json), command:
`{expert_run["command"]}`).
It solves two fewer than the present way, so it was not adopted. Heald and aider solve the same number.
{long_tries_sentence(common_tries(expert_run["outcomes"], list(_PRESENT)))}

{exercism_table(common_tries(expert_run["outcomes"], list(_EXPERT_ROWS)), _EXPERT_ROWS)}

Then the second try was changed: the statements that the report of the tests holds run on each version in the sandbox
before it is written, and one that fails is followed by another, which is asked for without the answers before it. An
answer without a file was asked for again in the same way, and some answers that repeat themselves were stopped (commit
{repair["commit"]}, results:
[exercism_repair_development.json](../benchmarks/results/exercism_repair_development.json)):

{ways_table(repair["outcomes"], _REPAIR_WAYS)}

The way that the rule names was run beside aider on a list drawn by a second seed: 11 deprecated exercises, which no run
had used, and the 80 of the first list, since the track has no others. Heald as it was before ran afterwards on the same
server (commit {redrawn["commit"]}, results:
[exercism_redrawn.json](../benchmarks/results/exercism_redrawn.json), command:
`{redrawn["command"]}`):

{exercism_table(common_tries(redrawn["outcomes"], list(_REPAIR_ROWS)), _REPAIR_ROWS)}

Heald solves three more than aider, with the repair and without it. The repair itself gained nothing, so it was removed.
Two parts of it are kept: a model that answered without a file is asked again without a sight of that answer and with
the name of the file, and answers that repeat themselves are stopped, which are now found by their lines. In a replay of
the answers to the second row, {repeated_sentence(repeated["rows"], "heald-before")}
(commit {repeated["commit"]}, results:
[exercism_repeated_answers.json](../benchmarks/results/exercism_repeated_answers.json)).

That version was compared with five others on the development list (commit {fifth["commit"]}, results:
[exercism_ways_development.json](../benchmarks/results/exercism_ways_development.json)):

{ways_table(fifth["outcomes"], _FIFTH_WAYS)}

The rule keeps it. It was then run beside aider on a list drawn by a third seed: nineteen concept exercises, which no
run had used, and the 91 of the list before (commit {widened["commit"]}, results:
[exercism_widened.json](../benchmarks/results/exercism_widened.json), command:
`{widened["command"]}`).
{pair_sentence(widened_tries)} {tokens_sentence(widened_tries)}

{exercism_table(widened_tries, _PRESENT)}

So Heald is not ahead of aider by what it solves. Four faults that the answers to the development list showed are
mended since, at an equal result there: a file in other capitals was a second file, an example of use replaced the code
before it, a definition that was to be implemented could be lost, and the report of a failed import named no line of the
tests.

An earlier run compares edit formats (commit {formats["commit"]}, results:
[exercism_formats.json](../benchmarks/results/exercism_formats.json)). With tools or diffs the model usually changes
nothing, in Heald and in aider:

{exercism_table(common_tries(formats["outcomes"], list(_FORMATS)), _FORMATS)}

The runs were served by a program for one GPU that is not part of the repository: {measured["server"]}.
Those of commit {expert_run["commit"]} were computed in bfloat16, in batches that do not change an answer, and those of
commits {redrawn["commit"]} and {widened["commit"]} in bfloat16, in batches of 64.
`--local` serves the same weights with llama.cpp; its arithmetic differs, so single answers do too.

### Tasks in repositories

Forty small repositories of 3 to 12 files with an instruction and a hidden check
([repository_tasks](../benchmarks/repository_tasks)), written without knowledge of Heald's prompts and code and
committed before the run; one try. Four are questions, which must change nothing. Heald looks into the folder by itself;
aider is given all files of the repository. With whole files aider solves three more than Heald. Its rows ran after
those of Heald, because a package was missing at first (commit {repository["commit"]}, results:
[repository_tasks.json](../benchmarks/results/repository_tasks.json), command: `{repository["command"]}`):

{repository_table(common_tries(repository["outcomes"], list(_FORMATS)))}

### Memory

Five facts are stated in a conversation in a context of 4,096 tokens, which further requests fill until it was compacted
ten times; then each fact is asked for, with [a memory](agents.md#memory) and without (commit {facts["commit"]},
results: [memory.json](../benchmarks/results/memory.json), command: `{facts["command"]}`):

{memory_table(facts["rows"])}

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

The same without the last row, and with twenty further tasks (commit {more_tools["commit"]}, results:
[small_model_more_tools.json](../benchmarks/results/small_model_more_tools.json), command:
`{more_tools["command"]}`, where KIND is `tools`, then `more-tools`):

{tools_table(summed_rows(more_tools["tasks"]), 30)}

Since then the tools of the program itself are always described, and tools whose names resemble no other one come before
those that the words of the request find. This was chosen on twenty other tasks (commit {offers["commit"]}, results:
[small_model_development_tools.json](../benchmarks/results/small_model_development_tools.json), command:
`{offers["command"]}`):

{offers_table(offers["ways"])}

Four more ways had a reworded system prompt. With four tools they solved 9 instead of 12, so the words were not kept.

On the thirty tasks it solves fewer than before, 14 and 13 instead of 16 and 14 (commit {tools_again["commit"]},
results: [small_model_tools_again.json](../benchmarks/results/small_model_tools_again.json), command:
`{tools_again["command"]}`).
The tools that a task needs are now offered in all of them; among those of four services nine tasks had lacked one. By
their names in the answers, they were called in 28, 26 and 28 tasks. Many of the tasks that are lost end with a sentence
such as “The tool returned the correct result.” after the right call; what causes it was not tested. The embedding of
the model was its output matrix, the same weights in six bits instead of four:

{tools_table(summed_rows(tools_again["tasks"]), 30)}

In three tasks of the second row the model wrote a call of `find_tools` as text, which was not run. It is run since, and
a reminder no longer changes which tools are offered.

The system prompt asked the model to say what it did, and the sentences after the right call did so. Other words, the
place of `find_tools` in the list and a reminder were compared on the twenty development tasks, each task three times,
once at temperature 0 and twice at 0.3. Tasks count that all ways have done. The best way by a rule that was written
before the run, most solved in all, is the default since (commit
{words["commit"]}, results:
[small_model_development_answers.json](../benchmarks/results/small_model_development_answers.json), command:
`{words["command"]}`):

{offers_table(words["ways"])}

The thirty tasks, before (commit 97e3ed3f) and with this change, at the same time (results:
[small_model_tool_answers.json](../benchmarks/results/small_model_tool_answers.json), command:
`{answers["command"]}`):

{answers_table(summed_rows(answers["before"]), summed_rows(answers["tasks"]))}

{same_tasks_sentence(answers["solved_tasks"]["tasks"])}
At temperature 0.3, in two runs, the first three rows solve {sampled["before"]} before, and
{sampled["tasks"]} now: a run varies by several tasks, and the search still costs some.
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
