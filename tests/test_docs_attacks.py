"""The table of attacks names a test for each row, and every one of them exists."""

import ast
import re
from functools import cache

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


@pytest.mark.skipif(not SHARED.exists(), reason="the list of cases is not part of the project")
def test_every_known_case_is_in_the_table() -> None:
    cases = set(re.findall(r"^\| ([A-Z]\d\da?) \|", SHARED.read_text(), re.MULTILINE))
    assert len(cases) > 70
    assert cases <= {case for case, _ in _rows()}
