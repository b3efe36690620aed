"""The pytest plugin, in a pytest of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MODULE = """
import heald
import heald_evals
S = heald.testing.ScriptedModel
ANSWERS = {"oslo": "A coat.", "rome": "A jacket."}


def make_agent(case):
    return heald.Agent(S([ANSWERS[case.name]]))


wear = heald_evals.Evaluation(
    "wear",
    make_agent,
    [heald_evals.Case(name, "?", checks=[heald_evals.contains("coat")]) for name in ANSWERS],
)


def test_beside():
    pass
"""
TOML = """
agent = "test_wear:make_agent"
[[cases]]
name = "oslo"
prompt = "?"
contains = "coat"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    other_plugins = "-p no:anyio -p no:hypothesispytest -p no:schemathesis"  # loading them takes three seconds
    settings = f"[pytest]\naddopts = -p no:cacheprovider {other_plugins} --strict-markers\nfilterwarnings = error\n"
    (tmp_path / "pytest.ini").write_text(settings + "asyncio_default_fixture_loop_scope = function\n")
    (tmp_path / "test_wear.py").write_text(MODULE)
    return tmp_path


def run_pytest(project: Path, *words: str) -> tuple[int, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", *words]
    ran = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def test_every_case_is_a_test(project: Path) -> None:
    (project / "test_more.toml").write_text(TOML)
    (project / "test_settings.toml").write_text('name = "nothing of ours"\n')
    code, out = run_pytest(project, "-v")
    assert code == 1, out
    assert "test_wear.py::wear::oslo PASSED" in out
    assert "test_wear.py::wear::rome FAILED" in out
    assert "test_wear.py::test_beside PASSED" in out
    assert "test_more.toml::oslo PASSED" in out
    assert "contains 'coat': the answer does not contain 'coat': A jacket." in out
    assert "log: heald sessions show ses_" in out
    assert f"--data {project / '.heald' / 'evals'}" in out
    assert "2 passed, 1 failed" in out


def test_runs_are_compared_and_cases_can_be_left_out(project: Path) -> None:
    assert run_pytest(project)[0] == 1
    (project / "test_wear.py").write_text(MODULE.replace("A jacket.", "A coat."))
    code, out = run_pytest(project, "--evals-parallel", "2")
    assert code == 0, out
    assert "Compared with the last run: 1 better, 0 worse, 1 the same" in out
    assert "better rome: failed → passed" in out
    code, out = run_pytest(project, "-m", "not heald_evals")
    assert (code, "1 passed, 2 deselected" in out, "evaluations" in out) == (0, True, False)
    (project / "heald_evals").mkdir()
    (project / "heald_evals" / "test_plain.py").write_text("def test_plain():\n    pass\n")
    code, out = run_pytest(project, "heald_evals")
    assert (code, "= evaluations =" in out) == (0, False)


def test_processes_of_xdist_are_one_run(project: Path) -> None:
    code, out = run_pytest(project, "-n", "2")
    assert code == 1, out
    assert "1 passed, 1 failed, " in out
    lines = (project / ".heald" / "evals" / "results.jsonl").read_text().splitlines()
    assert (len(lines), len({json.loads(line)["run"] for line in lines})) == (2, 1)


def test_wrong_options_and_files_are_one_sentence(project: Path) -> None:
    code, out = run_pytest(project, "--evals-record", "--evals-replay")
    assert (code, "exclude each other" in out) == (4, True)
    (project / "test_bad.toml").write_text(TOML.replace("prompt", "promt"))
    code, out = run_pytest(project, "test_bad.toml")
    assert (code, "is not a file of cases" in out, "Traceback" in out) == (2, True, False)
    code, out = run_pytest(project, "test_wear.py", "--evals-replay", "-k", "oslo")
    assert (code, "There is no recording of this case" in out) == (1, True)


def test_a_run_without_evaluations_loads_nothing_of_heald(project: Path) -> None:
    (project / "test_wear.py").write_text(
        "import sys\n\n\ndef test_plain():\n"
        "    loaded = [name for name in sys.modules if name.startswith('heald')]\n"
        "    heavy = ('heald.agent', 'heald.sessions', 'heald.tools', 'heald_evals.evaluation')\n"
        "    assert 'heald_evals.pytest_plugin' in loaded\n"
        "    assert not [name for name in loaded if name.startswith(heavy)]\n"
    )
    code, out = run_pytest(project)
    assert code == 0, out
