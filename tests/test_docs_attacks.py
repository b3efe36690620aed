"""The table of attacks names a test for each row, and every one of them exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared" / "security.md"
_ROW = re.compile(r"^\| ?(\w*) \| .+ \| `([^`]+)` \|$")


def _rows() -> list[tuple[str, str]]:
    lines = (ROOT / "docs" / "attacks.md").read_text().splitlines()
    rows = [found.groups() for line in lines if (found := _ROW.match(line))]
    assert len(rows) == sum(line.startswith("| ") and "| attempt |" not in line for line in lines)
    return [(row[0], row[1]) for row in rows]


@cache
def _functions(path: str) -> frozenset[str]:
    """The names of the functions of a file of tests."""
    tree = ast.parse((ROOT / "tests" / path).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize(("case", "test"), _rows())
def test_the_test_of_a_row_exists(case: str, test: str) -> None:
    path, _, name = test.partition("::")
    names = _functions(path)
    assert (name in names) if name else any(each.startswith("test_") for each in names), f"{case} {test}"


@pytest.mark.skipif(not SHARED.exists(), reason="the list of cases is not part of the project")
def test_every_known_case_is_in_the_table() -> None:
    wanted = set(re.findall(r"^\| ([A-Z]\d\da?) \|", SHARED.read_text(), re.MULTILINE))
    assert len(wanted) > 70
    assert wanted <= {case for case, _ in _rows()}
