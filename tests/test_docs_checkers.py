"""The checkers of the docs see what is wrong: else a page that passes them says nothing."""

from pathlib import Path

import pytest

from doc_commands import commands, lines, wrong_with
from doc_pages import Block, anchors, blocks, links, prose

PAGE = """# The first: a *page*, with `code()`

[in](other.md#the-first) and ![drawn](a.svg), `[not](a-link)` and [![both](b.svg)](c.md)

```python
# made.py
[not](a-link)
```

## Twice
## Twice
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    file = tmp_path / "page.md"
    file.write_text(PAGE, "utf-8")
    return file


def test_a_page_is_split(page: Path) -> None:
    assert anchors(page) == {"the-first-a-page-with-code", "twice", "twice-1"}
    assert set(links(page)) == {(False, "other.md#the-first"), (True, "a.svg"), (True, "b.svg"), (False, "c.md")}
    assert [(block.language, block.line, block.file) for block in blocks(page)] == [("python", 5, "made.py")]
    assert "made.py" not in prose(page)


@pytest.mark.parametrize(
    "line",
    [
        "heald serve --prot 1",
        "heald nothing",
        "heald build a.png --wire smoke-signals",
        "heald serve --no-open | heald run --nothing x",
        "make nothing",
        "python nothing.py",
        "python -m benchmarks.nothing",
        'pip install "heald[nothing]"',
        "a-program-that-nobody-knows",
    ],
)
def test_commands_that_are_not_there_are_found(line: str) -> None:
    assert [wrong for words in commands(line) if (wrong := wrong_with(words, set()))]


@pytest.mark.parametrize(
    "line",
    [
        "HEALD_TOKEN=… heald serve --host 0.0.0.0",
        "heald replay run.jsonl --dialect native --lines | jq .type > types.txt",
        "make run      # the server with its page",
        "python made.py && .venv/bin/heald doctor",
    ],
)
def test_commands_that_are_there_pass(line: str) -> None:
    assert not [wrong for words in commands(line) if (wrong := wrong_with(words, {"made.py"}))]


def test_what_is_seen_is_not_typed() -> None:
    block = Block(Path("page.md"), 1, "console", "$ heald \\\n    doctor\nall is well\n$ make run\n")
    assert [list(commands(line)) for line in lines(block)] == [[["heald", "doctor"]], [["make", "run"]]]
