"""Finds phrases of `odd_phrases.toml` in what people read: documentation, messages, docstrings, prompts, the page."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
_READ = ("*.md", "*.py", "*.ts", "*.tsx", "*.toml", "*.txt", "Makefile")
_UNREAD = ("CHANGELOG.md", "docs/api.md", "scripts/odd_phrases.toml")
"""The history, what is generated from docstrings, and the list itself."""
_MARKS = re.compile(r"^[ \t]*(?:#|//|\*|>)?[ \t]*")
"""What a line begins with before its words."""
_LINE_ENDS = re.compile(r"\n[ \t]*(?:#|//|\*|>)?[ \t]*")
_TESTS = re.compile(r"(^|/)tests?/")


class OddPhrase(NamedTuple):
    """A phrase, and what to write instead."""

    pattern: re.Pattern[str]
    quick: re.Pattern[str]
    """The same without the edge of a word before it: a search for plain letters, which is several times quicker."""
    instead: str


def load_phrases() -> list[OddPhrase]:
    listed = tomllib.loads((ROOT / "scripts/odd_phrases.toml").read_text("utf-8"))["phrase"]
    patterns = [(row["pattern"], row["instead"]) for row in listed]
    return [OddPhrase(re.compile(it), re.compile(it.removeprefix(r"\b")), instead) for it, instead in patterns]


def find_phrases(text: str, phrases: list[OddPhrase]) -> list[tuple[int, str, str]]:
    """Return the line, the words and what to write instead, of each phrase in a text. A phrase may cross a line end."""
    lines = text.split("\n")
    hits: set[tuple[int, str, str]] = set()
    for number, line in enumerate(lines):
        following = _MARKS.sub("", lines[number + 1]) if number + 1 < len(lines) else ""
        joined = f"{line} {following}" if following else line
        for phrase in phrases:
            hits.update(
                (number + 1, match[0], phrase.instead)
                for match in phrase.pattern.finditer(joined)
                if match.start() <= len(line) - 1
            )
    return sorted(hits)


def holds_phrase(text: str, phrases: list[OddPhrase]) -> bool:
    """Whether a text may have a phrase: one look at all of it, many times quicker than line by line."""
    joined = _LINE_ENDS.sub(" ", text)
    return any(phrase.quick.search(joined) or phrase.quick.search(text) for phrase in phrases)


def read_files() -> list[str]:
    """Return the files that people read: those of git, and new ones that it does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *_READ]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split() if name not in _UNREAD and not _TESTS.search(name)]


def main() -> int:
    phrases, count = load_phrases(), 0
    for name in read_files():
        path = ROOT / name
        if not path.is_file():
            continue
        text = path.read_text("utf-8")
        if not holds_phrase(text, phrases):
            continue
        for line, words, instead in find_phrases(text, phrases):
            print(f"{name}:{line}: {words!r}; write: {instead}")
            count += 1
    print(f"{count} odd phrases" if count else "No odd phrase.")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
