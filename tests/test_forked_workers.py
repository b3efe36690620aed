"""`pytest --processes`: the same outcome as in one process, whatever happens to a process."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from forked_workers import LONG, LONGEST, USUAL_IN, estimate
from repository import ROOT

HERE = ROOT / "tests" / "support"

SHARED = """
import time
import pytest

@pytest.fixture(scope="session")
def started(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp()
    (folder.parent / f"started-{time.monotonic_ns()}").touch()
    yield folder
    (folder.parent / f"ended-{time.monotonic_ns()}").touch()
"""

MIXED = """
import os
import pytest

def test_passes(started, record_property):
    print("to be captured")
    record_property("pid", os.getpid())

def test_fails(started):
    print("said before it failed")
    assert 1 == 2

@pytest.mark.skip(reason="not here")
def test_is_skipped(): ...

@pytest.mark.parametrize("number", range(3))
def test_is_repeated(number, tmp_path): (tmp_path / "a").touch()
"""

PRINTS = """
import time
from pathlib import Path

def test_prints_{name}():
    print("only", "{name}")
    Path("{folder}", "{name}").touch()
    end = time.monotonic() + 60
    while not Path("{folder}", "{other}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert False
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "forked_workers", "--rootdir", str(folder), *words, str(folder)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(HERE), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        start_new_session=True,
    )


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "suite"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
    (folder / "conftest.py").write_text(SHARED)
    (folder / "one" / "test_mixed.py").write_text(MIXED)
    return folder


def test_outcomes_are_those_of_one_process(suite: Path, tmp_path: Path) -> None:
    for number in range(3):
        (suite / "two" / f"test_two_{number}.py").write_text("def test_two(started): ...\n")
    ran = run_pytest(suite, "--processes", "2", f"--basetemp={tmp_path / 'base'}", "-rs")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "1 failed, 7 passed, 1 skipped" in ran.stdout
    assert "said before it failed" in ran.stdout
    assert "assert 1 == 2" in ran.stdout
    assert "not here" in ran.stdout
    assert "to be captured" not in ran.stdout
    started = sorted(path.name for path in (tmp_path / "base").glob("started-*"))
    ended = sorted(path.name for path in (tmp_path / "base").glob("ended-*"))
    assert len(started) == len(ended) == 2, "a fixture of the session is not made once in each process, and ended"
    rerun = run_pytest(suite, "--last-failed")
    assert "1 failed" in rerun.stdout
    assert "passed" not in rerun.stdout


def test_a_process_that_dies_fails_its_test_alone(suite: Path) -> None:
    middle = "import os\ndef test_before(): ...\ndef test_dies(): os._exit(7)\ndef test_after(): ...\n"
    last = "import os, signal\ndef test_before(): ...\ndef test_is_killed(): os.kill(os.getpid(), signal.SIGKILL)\n"
    for name, text in {"middle": middle, "last": last, "other": "def test_other(): ...\n"}.items():
        (suite / "two" / f"test_{name}.py").write_text(text)
    ran = run_pytest(suite, "--processes", "1", "-k", "not mixed")
    assert "2 failed, 4 passed, 6 deselected" in ran.stdout, ran.stdout
    assert "The process of this test ended with 7." in ran.stdout
    assert "The process of this test ended with 9." in ran.stdout


def test_each_process_captures_its_own_output(suite: Path, tmp_path: Path) -> None:
    """Each of two tests fails after both have printed."""
    for name, other in (("one", "two"), ("two", "one")):
        (suite / name / f"test_{name}.py").write_text(PRINTS.format(folder=tmp_path, name=name, other=other))
    ran = run_pytest(suite, "--processes", "2", "-k", "prints")
    assert "2 failed" in ran.stdout, ran.stdout
    assert ran.stdout.count("only one") == ran.stdout.count("only two") == 1
    for name, other in (("one", "two"), ("two", "one")):
        report = ran.stdout.partition(f"_ test_prints_{name} _")[2].partition("_ test_prints_")[0]
        assert f"only {name}" in report
        assert f"only {other}" not in report


def test_a_fault_after_the_last_test_fails_the_run(suite: Path) -> None:
    text = (
        "import pytest\n@pytest.fixture(scope='session')\ndef ends():\n    yield\n    1 / 0\ndef test_it(ends): ...\n"
    )
    (suite / "two" / "test_two.py").write_text(text)
    ran = run_pytest(suite, "--processes", "1", "-k", "test_it")
    assert ran.returncode == 1
    assert "1 passed, 6 deselected, 1 error" in ran.stdout, ran.stdout


def test_a_process_that_fails_after_its_last_test_fails_the_run(suite: Path) -> None:
    hook = (
        "\nimport os\ndef pytest_sessionfinish(session):\n    if hasattr(session.config, 'workerinput'): os._exit(7)\n"
    )
    (suite / "conftest.py").write_text(SHARED + hook)
    ran = run_pytest(suite, "--processes", "1", "-k", "passes")
    assert "A process ended with 7 after its last test." in ran.stdout, ran.stdout
    assert "1 passed" in ran.stdout
    assert ran.returncode == 1


def test_a_run_that_is_interrupted_ends_its_fixtures(suite: Path, tmp_path: Path) -> None:
    """As Ctrl-C does it: every process of the run gets the signal, and a test's process another one from the first."""
    handled = "\nimport signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    (suite / "conftest.py").write_text(SHARED + handled)  # a shell starts what runs in its background without it
    (suite / "two" / "test_two.py").write_text(
        "import os, signal, time\ndef test_waits(started):\n    os.killpg(0, signal.SIGINT)\n    time.sleep(60)\n"
    )
    ran = run_pytest(suite, "--processes", "1", f"--basetemp={tmp_path / 'base'}", "-k", "waits")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "KeyboardInterrupt" in ran.stdout
    base = tmp_path / "base"
    assert len(list(base.glob("started-*"))) == len(list(base.glob("ended-*"))) == 1


def test_a_report_in_xml_has_every_test_once(suite: Path, tmp_path: Path) -> None:
    for number in range(3):
        (suite / "two" / f"test_two_{number}.py").write_text("def test_two(): ...\n")
    run_pytest(suite, "--processes", "2", f"--junitxml={tmp_path / 'report.xml'}")
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    suites = [element.attrib for element in root.iter("testsuite")]
    assert [(element["tests"], element["failures"], element["skipped"]) for element in suites] == [("9", "1", "1")]
    cases = [f"{case.get('classname')}.{case.get('name')}" for case in root.iter("testcase")]
    assert len(cases) == len(set(cases)) == 9
    assert [element.get("name") for element in root.iter("property")] == ["pid"]


def test_a_part_of_a_file_changes_its_estimate_by_a_little_only(suite: Path) -> None:
    cache_file = suite / ".pytest_cache" / "v" / "heald" / "seconds"
    cache_file.parent.mkdir(parents=True)
    cache_file.write_text('{"one/test_mixed.py": 50}')
    run_pytest(suite, "--processes", "1", "-k", "passes")
    assert json.loads(cache_file.read_text()) == {"one/test_mixed.py": 35.0}
    run_pytest(suite, "--processes", "1")
    assert json.loads(cache_file.read_text())["one/test_mixed.py"] < 20


def test_the_first_failure_may_end_the_run(suite: Path) -> None:
    ran = run_pytest(suite, "--processes", "1", "-x")
    assert ran.returncode == 1
    assert "stopping after 1 failures" in ran.stdout


def test_files_that_are_not_known_are_estimated_by_their_folder_and_name() -> None:
    usual = estimate("packages/core/tests/core/test_new.py", 10)
    assert estimate("packages/heald/tests/web/test_new.py", 10) > 10 * usual
    assert estimate("packages/core/tests/agent/test_log_random.py", 1) == LONGEST
    assert all((ROOT / folder).is_dir() for folder in USUAL_IN)
    names = {path.name for path in (*ROOT.glob("packages/*/tests/**/test_*.py"), *ROOT.glob("tests/test_*.py"))}
    assert set(LONG) <= names
