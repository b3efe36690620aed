"""The comparison: every claim about Heald has a page and a test, and the systems that people ask about are listed."""

import re

import pytest

from repository import ROOT

PAGE = ROOT / "docs" / "comparison.md"
SYSTEMS = ("opencode", "Cline", "goose", "Mastra", "Agno", "v0", "Lovable", "Claude Design", "aider", "Codex")


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def test_every_claim_has_a_page_and_a_test() -> None:
    claims = _rows("Claims about Heald")
    assert len(claims) > 5
    for claim, page, checks in claims:
        assert re.search(r"\]\(\w[\w.-]*\.md", page), claim
        tests = re.findall(r"\]\(\.\./([^)]+)\)", checks)
        assert tests or checks.startswith("`make "), claim
        for path in tests:
            assert (ROOT / path).exists(), path
            assert "/tests" in path, path


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_is_listed(name: str) -> None:
    headings = ("Building pages", "Coding assistants", "Agent libraries and servers")
    listed = [row[0] for heading in headings for row in _rows(heading)]
    assert any(cell in (name,) or cell.startswith(f"[{name}](") for cell in listed)


@pytest.mark.parametrize("heading", ["Building pages", "Coding assistants", "Agent libraries and servers"])
def test_a_table_is_whole(heading: str) -> None:
    assert {len(row) for row in _rows(heading)} == {4}
