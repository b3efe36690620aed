"""The table of invariants: every code that the checks report has its sentence, in the code and in the docs."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import heald_check.checker
from heald_check import Violation
from heald_check.checker.invariants import INVARIANTS
from repository import ROOT


def _script(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_every_reported_code_has_a_sentence_and_every_sentence_is_reported() -> None:
    folder = Path(heald_check.checker.__file__).parent
    sources = [path.read_text("utf-8") for path in folder.glob("*.py") if path.name != "invariants.py"]
    reported = {code for source in sources for code in re.findall(r'\("(I\w\w)", ', source)}
    assert reported == set(INVARIANTS)


def test_sentences_are_sentences() -> None:
    assert [code for code, text in INVARIANTS.items() if not re.fullmatch(r"[A-Z`].*\.", text) or "|" in text] == []
    assert list(INVARIANTS) == sorted(INVARIANTS)


def test_a_violation_has_its_sentence() -> None:
    violation = Violation("I11", 7, "the exchange 'a' has no exchange_response", "ses_1")
    assert str(violation).startswith("I11 at ses_1:7: the exchange 'a' has no exchange_response. An exchange ends ")
    assert violation.rule == INVARIANTS["I11"]


def test_the_docs_have_the_table_of_today() -> None:
    page = (ROOT / "docs" / "testing.md").read_text("utf-8")
    assert page == _script("make_checker_docs").updated_page(page), "run make docs"
