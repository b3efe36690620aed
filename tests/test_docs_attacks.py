"""The table of attacks names a test for each row, and every one of them exists. `make attack` judges rows by them."""

import ast
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from repository import ROOT

SHARED = ROOT.parent / "shared" / "security.md"
_ROW = re.compile(r"^\| ?(\w*) \| .+ \| `([^`]+)` \|$")


def _rows() -> list[tuple[str, str]]:
    lines = (ROOT / "docs" / "attacks.md").read_text().splitlines()
    rows = [match.groups() for line in lines if (match := _ROW.match(line))]
    assert len(rows) == sum(line.startswith("| ") and "| attempt |" not in line for line in lines)
    return [(row[0], row[1]) for row in rows]


@cache
def _functions(path: str) -> frozenset[str]:
    """The names of the functions of a file of tests."""
    tree = ast.parse((ROOT / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize(("case", "test"), _rows())
def test_the_test_of_a_row_exists(case: str, test: str) -> None:
    path, _, name = test.partition("::")
    names = _functions(path)
    assert (name in names) if name else any(defined.startswith("test_") for defined in names), f"{case} {test}"


@cache
def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_attacks", ROOT / "scripts" / "run_attacks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_make_attack_tries_every_row_of_the_table_and_of_the_folder() -> None:
    attacks = [*_script().read_table(), *_script().read_files()]
    assert [attack.tests[0] for attack in attacks][: len(_rows())] == [test for _, test in _rows()]
    for attack in attacks:
        assert attack.place
        for test in attack.tests:
            assert (ROOT / test.partition("::")[0]).is_file(), test


def test_a_file_adds_a_row(tmp_path: Path) -> None:
    text = 'place = "Commands"\nattempt = "a try"\noutcome = "refused"\ntest = "a/test_a.py::test_b"\n'
    (tmp_path / "clipboard.toml").write_text(text)
    (attack,) = _script().read_files(tmp_path)
    assert (attack.case, attack.tests) == ("clipboard", ("a/test_a.py::test_b",))
    judge = _script().judge
    assert judge(attack, {"a/test_a.py::test_b[1]": ["passed"], "a/test_a.py::test_bc": ["failed"]}) == "held"
    assert (
        judge(attack, {"a/test_a.py::test_b[1]": ["passed"], "a/test_a.py::test_b[2]": ["failed"]}) == "PASSED THROUGH"
    )
    assert judge(attack, {"a/test_a.py::test_b": ["skipped"]}) == "not tried"
    assert judge(attack, {}) == "no test"
    (tmp_path / "broken.toml").write_text('place = "Commands"\n')
    with pytest.raises(SystemExit, match=r"broken.toml needs the texts"):
        _script().read_files(tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="the list of cases is not part of the project")
def test_every_known_case_is_in_the_table() -> None:
    cases = set(re.findall(r"^\| ([A-Z]\d\da?) \|", SHARED.read_text(), re.MULTILINE))
    assert len(cases) > 70
    assert cases <= {case for case, _ in _rows()}
