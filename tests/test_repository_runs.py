"""`python -m benchmarks.repository_runs` against a scripted endpoint: files and answers are checked, once."""

import asyncio
import json
import os
import sys
from pathlib import Path

from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply
from repository import ROOT

QUESTION, CHANGE = "question_database_variable", "own_exception"
FOLDER = ROOT / "benchmarks" / "repository_tasks" / "tasks"
PEER = f"""#!{sys.executable}
print("Added LEDGER_STORE_PATH to the chat.")
"""


def reply(request: ReceivedRequest) -> Reply:
    """Answer the question, and write the files of the solution."""
    if "ledger/" in json.dumps(request.body["messages"]):
        return wire_reply("chat", text="LEDGER_STORE_PATH names it.", usage=(100, 10))
    solution = FOLDER / CHANGE / "solution"
    paths = sorted(path for path in solution.rglob("*") if path.is_file())
    files = [f"{path.relative_to(solution)}\n```\n{path.read_text('utf-8')}```" for path in paths]
    return wire_reply("chat", text="Written.\n\n" + "\n\n".join(files), usage=(100, 10))


async def test_files_and_answers_are_checked_and_a_file_that_aider_names_is_no_answer(tmp_path: Path) -> None:
    peer = tmp_path / "bin" / "aider"
    peer.parent.mkdir()
    peer.write_text(PEER)
    peer.chmod(0o755)
    path = tmp_path / "results.json"
    async with ScriptedServer(reply) as server:
        endpoint = ("--model", "tiny-1b", "--base-url", f"{server.url}/v1", "--jobs", "2")
        rows = ("--row", "heald", "--row", "aider-whole")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.repository_runs", *endpoint, *rows, "--results", str(path)),
            *("--task", QUESTION, "--task", CHANGE),
            cwd=ROOT,
            env=os.environ | {"PATH": f"{peer.parent}:{os.environ['PATH']}"},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(300):
            output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    outcomes = json.loads(path.read_text("utf-8"))["outcomes"]
    solved = {(item["exercise"], item["row"]): [attempt["solved"] for attempt in item["tries"]] for item in outcomes}
    assert solved == {
        (QUESTION, "heald"): [True],
        (CHANGE, "heald"): [True],
        (QUESTION, "aider-whole"): [False],
        (CHANGE, "aider-whole"): [False],
    }, outcomes
    idle = {item["exercise"]: item["tries"][0]["idle"] for item in outcomes if item["row"] == "heald"}
    assert idle == {QUESTION: True, CHANGE: False}
