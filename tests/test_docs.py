"""README and docs: every Python block runs, every link leads somewhere."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

_PYTHON = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def _blocks() -> list[object]:
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in PAGES
        for number, block in enumerate(_PYTHON.findall(page.read_text("utf-8")), 1)
    ]


@pytest.mark.parametrize("block", _blocks())
def test_the_block_runs(block: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in _LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not missing


def test_the_event_reference_is_made_from_the_types_of_today() -> None:
    spec = importlib.util.spec_from_file_location("make_event_docs", ROOT / "scripts" / "make_event_docs.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert (ROOT / "docs" / "events.md").read_text("utf-8") == made.events_page(), "run make docs"
    assert (ROOT / "docs" / "events.schema.json").read_text("utf-8") == made.schema_text(), "run make docs"
