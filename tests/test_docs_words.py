"""Words of Heald's own are explained where a page uses them first, or two lines around."""

import re

import pytest

from repository import ROOT

PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in ("a2a", "acp", "agents", "cli", "configuration", "mcp", "operations", "permissions")
    ),
    *(f"docs/{name}.md" for name in ("providers", "recipes", "server", "sessions", "studio", "telemetry", "tools")),
    "docs/tutorial.md",
]
WORDS = {
    "wire": (re.compile(r"\bwires?\b", re.I), re.compile(r"\bAPI")),
    "exchange": (re.compile(r"\bexchanges?\b", re.I), re.compile(r"request and everything")),
    "dialect": (
        re.compile(r"\bdialects?\b", re.I),
        re.compile(r"words of one kind of client|\((?:docs/)?dialects\.md"),
    ),
}
"""The word, and what its explanation has."""


def _prose(text: str) -> list[str]:
    """The lines without code and without the targets of links."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    return re.sub(r"\]\([^)\n]*\)", "]", text).split("\n")


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("page", PAGES)
def test_a_word_is_explained_at_its_first_use(page: str, word: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    name, explanation = WORDS[word]
    first = next((at for at, line in enumerate(_prose(text)) if name.search(line)), None)
    if first is not None:
        around = " ".join(text.split("\n")[first : first + 2])
        assert explanation.search(around), f"{page}:{first + 1} uses {word!r} without an explanation"
