"""`heald test`: files of cases, in the shell."""

import json
import re
import sys
from pathlib import Path

import pytest

from clean_machine import clean_machine
from cli_bench import run

__all__ = ["clean_machine"]
Capture = pytest.CaptureFixture[str]

PYTHON = """
import heald
import heald_evals

ANSWERS = {}

S = heald.testing.ScriptedModel


def make_agent(case):
    return heald.Agent(S([ANSWERS[case.name]]))


def has_coat(run):
    assert "coat" in run.text


wear = heald_evals.Evaluation(
    "wear", make_agent, [heald_evals.Case(name, "What to wear?", checks=[has_coat]) for name in ANSWERS]
)
"""
TOML = """
agent = "agents:make_agent"
budget = { turns = 3 }

[[cases]]
name = "greeting"
prompt = "Greet Ann."
contains = "Hello"
excludes = ["Bye"]
matches = '^Hello, \\w+\\.$'
calls = ["look", { tool = "look", arguments = { place = "here" } }]
avoids = ["run_command"]
writes = { "a.txt" = "hi\\n" }
files = { "b.txt" = "b" }
"""
AGENTS = """
import heald

S = heald.testing.ScriptedModel


@heald.tool
async def look(place: str) -> str:
    "Look."
    return "nothing"


def make_agent():
    calls = [S.call("look", place="here"), S.call("write_file", path="a.txt", content="hi\\n")]
    return heald.Agent(S([calls, "Hello, Ann."]), tools=["files", look])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as the working folder. Modules beside the cases are not those of another test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "agents", raising=False)
    return tmp_path


def write_answers(project: Path, **answers: str) -> None:
    (project / "test_wear.py").write_text(PYTHON.replace("ANSWERS = {}", f"ANSWERS = {answers!r}"))


async def test_a_failing_case_names_its_log_and_the_command_that_shows_it(project: Path, capsys: Capture) -> None:
    write_answers(project, oslo="A coat.", rome="A jacket.")
    ran = await run(capsys, "test", "test_wear.py")
    assert ran.code == 1
    assert re.search(r"^ok +oslo .* tokens", ran.out, re.M)
    assert re.search(r"^FAILED +rome ", ran.out, re.M)
    assert 'has_coat: assert "coat" in run.text (test_wear.py:' in ran.out
    assert "1 passed, 1 failed" in ran.out
    command = re.search(r"log: heald (sessions show ses_\w+ --data \S+)", ran.out)
    assert command is not None
    log = await run(capsys, *command[1].split())
    assert (log.code, "A jacket." in log.out) == (0, True)


async def test_a_run_is_compared_with_the_last_and_with_a_baseline(project: Path, capsys: Capture) -> None:
    write_answers(project, oslo="A coat.", rome="A jacket.")
    assert (await run(capsys, "test", "test_wear.py")).code == 1
    results = project / ".heald" / "evals" / "results.jsonl"
    (project / "baseline.jsonl").write_bytes(results.read_bytes())
    write_answers(project, oslo="A coat.", rome="A coat.")
    ran = await run(capsys, "test", "test_wear.py")
    assert ran.code == 0
    assert "1 better, 0 worse, 1 the same\n  better rome: failed → passed" in ran.out
    ran = await run(capsys, "test", "test_wear.py")
    assert "0 better, 0 worse, 2 the same" in ran.out
    ran = await run(capsys, "test", "test_wear.py", "--baseline", "baseline.jsonl")
    assert "1 better, 0 worse, 1 the same" in ran.out


async def test_json_has_a_line_for_each_case(project: Path, capsys: Capture) -> None:
    write_answers(project, oslo="A coat.", rome="A jacket.")
    ran = await run(capsys, "test", "test_wear.py", "--json", "--folder", "kept")
    outcomes = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 1
    assert sorted((outcome["case"], outcome["status"]) for outcome in outcomes) == [
        ("oslo", "passed"),
        ("rome", "failed"),
    ]
    assert (project / "kept" / "results.jsonl").read_text() == ran.out


async def test_cases_in_toml(project: Path, capsys: Capture) -> None:
    (project / "agents.py").write_text(AGENTS)
    (project / "greetings.toml").write_text(TOML)
    ran = await run(capsys, "test", "greetings.toml", "--json")
    assert ran.code == 0, ran.out + ran.err
    outcome = json.loads(ran.out)
    assert (outcome["evaluation"], [check["name"] for check in outcome["checks"]]) == (
        "greetings",
        [
            "contains 'Hello'",
            "excludes 'Bye'",
            r"matches ^Hello, \w+\.$",
            "calls look()",
            "calls look(place='here')",
            "avoids run_command",
            "writes a.txt",
        ],
    )


async def test_an_agent_in_toml_is_made_from_its_table(project: Path, capsys: Capture) -> None:
    (project / "m.toml").write_text(
        'agent = { model = "nobody/m", tools = ["files"] }\n[[cases]]\nname = "a"\nprompt = "b"\n'
    )
    ran = await run(capsys, "test", "m.toml", "--json")
    assert ran.code == 1
    assert "nobody" in json.loads(ran.out)["error"]


CASE = '[[cases]]\nname = "a"\nprompt = "b"\n'


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("missing.py", None, "missing.py is not a file; check the path."),
        ("cases.txt", "", "cases.txt is neither a Python file nor a TOML file; name a file of cases."),
        ("empty.py", "x = 1\n", "empty.py has no evaluation; assign a heald_evals.Evaluation to a variable in it."),
        ("broken.py", "import nothing_here\n", "broken.py cannot be loaded: ModuleNotFoundError"),
        ("broken.toml", "agent = \n", "broken.toml is not valid TOML"),
        ("unknown.toml", f'agent = "m:f"\n{CASE}promt = "c"\n', "unknown field `promt`"),
        ("agent.toml", f'agent = "openai/gpt-5.2"\n{CASE}', "write 'module:function', or a table [agent]"),
        ("import.toml", f'agent = "no_such_module:f"\n{CASE}', "agent 'no_such_module:f' cannot be imported"),
        ("pattern.toml", f'agent = {{ model = "m" }}\n{CASE}matches = "("\n', "is not a regular expression"),
        ("criteria.toml", f'agent = {{ model = "m" }}\n{CASE}criteria = "c"\n', "has no judge"),
        ("budget.toml", f'agent = {{ model = "m" }}\n{CASE}budget = {{ turns = 0 }}\n', "it must be greater than 0"),
    ],
)
async def test_what_cannot_be_run_is_one_sentence(
    project: Path, capsys: Capture, name: str, text: str | None, sentence: str
) -> None:
    if text is not None:
        (project / name).write_text(text)
    ran = await run(capsys, "test", name)
    assert (ran.code, ran.out) == (2, "")
    assert sentence in ran.err
    assert len(ran.err.strip().splitlines()) == 1


async def test_names_must_be_unique_and_match(project: Path, capsys: Capture) -> None:
    write_answers(project, oslo="A coat.")
    (project / "more.py").write_text((project / "test_wear.py").read_text())
    ran = await run(capsys, "test", "test_wear.py", "more.py")
    assert (ran.code, "Two evaluations have the name 'wear'" in ran.err) == (2, True)
    ran = await run(capsys, "test", "test_wear.py", "--only", "paris")
    assert (ran.code, "No case matches 'paris'." in ran.err) == (2, True)
