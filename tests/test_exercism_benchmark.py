"""`python -m benchmarks.exercism` against a scripted endpoint: it counts tries, requests, damaged files, idle exits."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from repository import ROOT

RIGHT = "def {name}(number):\n    return {factor} * number\n"
PEER = f"""#!{sys.executable}
import json, os, sys, urllib.request
message = {{"role": "user", "content": open(sys.argv[sys.argv.index("--message-file") + 1]).read()}}
body = {{"model": "m", "stream": True, "messages": [message]}}
url = os.environ["OPENAI_API_BASE"] + "/chat/completions"
request = urllib.request.Request(url, json.dumps(body).encode(), {{"content-type": "application/json"}})
lines = urllib.request.urlopen(request).read().decode().splitlines()
chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {{")]
text = "".join((c["choices"][0]["delta"].get("content") or "") for c in chunks if c.get("choices"))
if "```" in text:
    open(sys.argv[-1], "w").write(text.split("```python\\n")[1].split("```")[0])
"""


def make_exercise(checkout: Path, name: str, factor: int) -> None:
    folder = checkout / "exercises" / "practice" / name
    (folder / ".meta").mkdir(parents=True)
    (folder / ".docs").mkdir()
    files = {"solution": [f"{name}.py"], "test": [f"{name}_test.py"], "example": [".meta/example.py"]}
    (folder / ".meta" / "config.json").write_text(json.dumps({"files": files}))
    (folder / ".meta" / "example.py").write_text(RIGHT.format(name=name, factor=factor))
    (folder / ".docs" / "instructions.md").write_text(f"# Instructions\n\nMultiply a number by {factor}.\n")
    (folder / f"{name}.py").write_text(f"def {name}(number):\n    pass\n")
    test = f"from {name} import {name}\n\n\ndef test_it():\n    assert {name}(7) == {7 * factor}\n"
    (folder / f"{name}_test.py").write_text(test)


def reply(request: ReceivedRequest) -> Reply:
    """Solve `double` at once and `triple` at the second try; break `fourfold`; say nothing useful about `fivefold`."""
    text = str(request.body["messages"][-1]["content"])
    is_second = "7" in text and "failed" in text
    name, factor = next(pair for pair in PAIRS if f"{pair[0]}.py" in text)
    if name == "fivefold":
        return wire_reply("chat", text="I do not know.", usage=(100, 10))
    code = RIGHT.format(name=name, factor=factor if name == "double" or is_second else 0)
    if name == "fourfold":
        code = f"def {name}(number:\n    return\n"
    return wire_reply("chat", text=f"{name}.py\n```python\n{code}```\n", usage=(100, 10))


PAIRS = (("double", 2), ("triple", 3), ("fourfold", 4), ("fivefold", 5))


async def run_benchmark(*words: str, path: str = "") -> str:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.exercism", *words),
        cwd=ROOT,
        env=os.environ | ({"PATH": f"{path}:{os.environ['PATH']}"} if path else {}),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(300):
        output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


def tries_of(results: dict[str, Any], name: str, row: str) -> list[dict[str, Any]]:
    return next(item for item in results["outcomes"] if (item["exercise"], item["row"]) == (name, row))["tries"]


async def test_tries_damaged_files_and_idle_exits_are_counted(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for name, factor in PAIRS:
        make_exercise(checkout, name, factor)
    peer = tmp_path / "bin" / "aider"
    peer.parent.mkdir()
    peer.write_text(PEER)
    peer.chmod(0o755)
    path = tmp_path / "results.json"
    exercises = [word for name, _ in PAIRS for word in ("--exercise", name)]
    async with ScriptedServer(reply) as server:
        endpoint = ("--model", "tiny-1b", "--base-url", f"{server.url}/v1", "--jobs", "2")
        rows = ("--row", "heald", "--row", "aider-whole")
        words = (str(checkout), *endpoint, *exercises)
        output = await run_benchmark(*words, *rows, "--results", str(path), path=str(peer.parent))
        results = json.loads(path.read_text())
        heald, aider = (
            next(line for line in output.splitlines() if line.startswith(f"| {row} |")) for row in rows[1::2]
        )
        # fourfold and fivefold cost the first row a reminder in each of their two tries
        assert heald.startswith("| heald | 1 (25.0%) | 2 (50.0%) | 11 | 1,100 | 110 | 0 | 0 |"), output
        assert aider.startswith("| aider-whole | 1 (25.0%) | 2 (50.0%) | 7 | 700 | 70 | 1 | 3 |"), output
        assert [attempt["exit_code"] for attempt in tries_of(results, "fivefold", "heald")] == [1, 1]
        assert [attempt["damaged"] for attempt in tries_of(results, "fourfold", "aider-whole")] == [["fourfold.py"], []]
        assert "assert 0 == 21" in tries_of(results, "triple", "heald")[0]["test_output"]
        assert str(tmp_path) not in tries_of(results, "triple", "heald")[0]["test_output"]
        assert {"command", "commit", "machine", "model", "list"} <= set(results)
        count = len(server.requests)
        await run_benchmark(*words, *rows, "--resume", str(path), path=str(peer.parent))
        assert len(server.requests) == count
    assert json.loads(path.read_text())["outcomes"] == results["outcomes"]


async def test_the_solutions_of_the_exercises_are_checked(tmp_path: Path) -> None:
    make_exercise(tmp_path, "double", 2)
    make_exercise(tmp_path, "triple", 3)
    wrong = tmp_path / "exercises/practice/triple/.meta/example.py"
    wrong.write_text("def triple(number):\n    return 1\n")
    output = await run_benchmark(str(tmp_path), "--exercise", "double", "--exercise", "triple", "--reference")
    assert "triple: its own solution fails" in output
    assert "1 of 2 solutions pass" in output


def test_the_best_row_solves_most_and_then_has_the_fewest_tokens() -> None:
    from benchmarks.exercism.choose import choose

    def outcome(exercise: str, row: str, *, solved: bool, tokens: int) -> dict[str, Any]:
        return {"exercise": exercise, "row": row, "tries": [{"solved": solved, "tokens_in": tokens, "tokens_out": 1}]}

    outcomes = [
        outcome("a", "one", solved=True, tokens=90),
        outcome("a", "two", solved=True, tokens=80),
        outcome("a", "three", solved=False, tokens=10),
        outcome("b", "one", solved=True, tokens=10),  # only one row has done it, so it does not count
    ]
    assert choose(outcomes, ["one", "two", "three"]) == "two"
    assert choose(outcomes, ["three", "one"]) == "one"


def test_the_lists_are_disjoint() -> None:
    from benchmarks.exercism.lists import LISTS

    development, measured = set(LISTS["development"]), set(LISTS["measured"])
    assert len(development) == 47
    assert len(measured) == 80
    assert not development & measured
    assert set(LISTS["widened"]) > set(LISTS["redrawn"]) > measured
    assert not development & set(LISTS["widened"])
    assert not set(LISTS["widened"][:19]) & set(LISTS["redrawn"])  # no run had used them


def test_a_concept_exercise_is_read_without_its_lesson(tmp_path: Path) -> None:
    from benchmarks.exercism.exercise import Exercise

    folder = tmp_path / "exercises" / "concept" / "lasagna"
    (folder / ".docs").mkdir(parents=True)
    (folder / ".meta").mkdir()
    (folder / ".meta" / "config.json").write_text('{"files": {"solution": ["a.py"], "test": ["a_test.py"]}}')
    (folder / ".meta" / "exemplar.py").write_text("def f(): return 1")
    (folder / ".docs" / "introduction.md").write_text("A lesson.")
    (folder / ".docs" / "instructions.md").write_text("Write f.")

    exercise = Exercise.read(tmp_path, "lasagna")

    assert exercise.request.startswith("Write f.")
    assert exercise.reference.read_text() == "def f(): return 1"
