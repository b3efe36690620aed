"""The pages of the documentation, and what stands in them: blocks, headings, links, names of files."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from repository import ROOT

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("README.md")),
    *sorted((ROOT / "examples").glob("*/README.md")),
    *sorted((ROOT / "benchmarks").glob("README.md")),
]

_FENCE = re.compile(r"^```(.*)$")
_HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$", re.M)
_LINK = re.compile(r"(?<!\\)(!?)\[(?:[^\]\[]|\[[^\]]*\]\([^)]*\))*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")
_INNER_LINK = re.compile(r"\[\s*!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"`[^`\n]*`")
_NAMED_FILE = re.compile(r"`((?:src|tests|docs|examples|benchmarks|scripts|web|packages)/[\w./-]+|heald/[\w/]+)`")
_FIRST_LINE = re.compile(r"(?:# ([\w-]+\.py)|<!-- ([\w-]+\.html) -->)\n")


@dataclass(frozen=True)
class Block:
    """Code between two fences."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The name that its first line gives it: the reader is told to save it under that name."""
        first_line = _FIRST_LINE.match(self.text)
        return first_line[1] or first_line[2] if first_line else None

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    parsed: list[Block] = []
    language: str | None = None
    start, lines = 0, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence is None:
            lines.append(line)
        elif language is None:
            language, start, lines = fence[1].strip(), number, []
        else:
            parsed.append(Block(page, start, language, "\n".join([*lines, ""])))
            language = None
    assert language is None, f"{name_of(page)}:{start}: the block is not closed"
    return parsed


def prose(page: Path) -> str:
    """The page without its blocks."""
    text_lines, inside = list[str](), False
    for line in page.read_text("utf-8").splitlines():
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            text_lines.append(line)
    return "\n".join(text_lines)


def anchors(page: Path) -> set[str]:
    """What can stand behind a # in a link to the page, as GitHub makes it of the headings."""
    taken = dict[str, int]()
    for heading in _HEADING.findall(prose(page)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = "".join(char for char in text if char in " -_" or unicodedata.category(char)[0] in "LN").replace(
            " ", "-"
        )
        count = taken.get(slug, 0)
        taken[slug] = count + 1
        if count:
            taken[f"{slug}-{count}"] = 1
    return set(taken)


def links(page: Path) -> Iterator[tuple[bool, str]]:
    """All links, with whether they are pictures."""
    text = _CODE.sub(lambda code: "`" * len(code[0]), prose(page))
    for mark, target in _LINK.findall(text):
        yield mark == "!", target
    for target in _INNER_LINK.findall(text):
        yield True, target


def named_files(page: Path) -> set[str]:
    """Files of the project that the text names."""
    return {name for name in _NAMED_FILE.findall(prose(page)) if "*" not in name and "<" not in name}
