"""Ten changes that people make to a page, made in the converter's code and in another program's code of the same page.

python -m benchmarks.front_end_tasks FOLDER [--pictures data/demo] [--answers data/direct_demo] [--pages 0 18 25]

FOLDER is a folder or a git directory that holds pictures of pages, and another program's HTML of the same names. Each
change is a script of the edits that a reader of the code would make; the table counts the lines that they change. A
dash means that the page has nothing to change, such as no menu.
"""

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html.parser import HTMLParser
from pathlib import Path
from statistics import median

from heald.core.markup import VOID_ELEMENTS
from heald_local.arrange.page import arrange
from heald_local.see.detect import detect_elements
from heald_local.write.stacks import write_files

PAGES = ("0", "18", "25", "49", "95")
_HUES = "red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose"
_NAMED_COLOUR = re.compile(rf"\b(?:bg|text|border)-((?:{_HUES})-\d+)\b")
_HEX = re.compile(r"#[0-9a-fA-F]{6}\b")
_ACCENT = re.compile(r"--accent: (#[0-9a-f]{6});")
_SPACE = re.compile(r"\b[mp][tbxy]?-(?:4|5|6|8|10|12|16)\b")
_SIZES = re.compile(r"\btext-(?:xs|sm|base|lg)\b")
_VIVID = 60
_HEADINGS = ("h1", "h2")
_TEXTS = frozenset({"p", "li", "a", "span", "td"})


@dataclass(frozen=True, slots=True)
class SourceElement:
    """An element of a source: its tag, its classes, its first and last line, and its place in the tree."""

    tag: str
    classes: tuple[str, ...]
    first: int
    last: int
    parent: int
    words: str


class PageSource(HTMLParser):
    """The lines of a page and the elements in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.lines = text.split("\n")
        self.elements: list[SourceElement] = []
        self._open: list[int] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = (dict(attrs).get("class") or "").split()
        line = self.getpos()[0] - 1
        parent = self._open[-1] if self._open else -1
        self.elements.append(SourceElement(tag, tuple(names), line, line, parent, ""))
        if tag not in VOID_ELEMENTS:
            self._open.append(len(self.elements) - 1)

    def handle_endtag(self, tag: str) -> None:
        if not any(self.elements[at].tag == tag for at in self._open):
            return
        while self._open:
            at = self._open.pop()
            element = self.elements[at]
            self.elements[at] = SourceElement(
                element.tag, element.classes, element.first, self.getpos()[0] - 1, element.parent, element.words
            )
            if element.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._open and data.strip():
            at = self._open[-1]
            element = self.elements[at]
            words = f"{element.words} {data.strip()}".strip()
            self.elements[at] = SourceElement(
                element.tag, element.classes, element.first, element.last, element.parent, words
            )

    def children(self, parent: int) -> list[int]:
        return [at for at, element in enumerate(self.elements) if element.parent == parent]

    def inside(self, ancestor: int) -> list[int]:
        """Return all elements in another, in order."""
        within: list[int] = []
        for at, element in enumerate(self.elements):
            if element.parent == ancestor or element.parent in within:
                within.append(at)
        return within

    def find(self, *tags: str) -> int:
        """Return the first element with one of the tags; -1 if there is none."""
        return next((at for at, element in enumerate(self.elements) if element.tag in tags), -1)

    def rule_line(self, name: str) -> int:
        """Return the line of the rule of a class, outside of media queries; -1 if it has none."""
        start = f".{name} {{"
        return next((at for at, line in enumerate(self.lines) if line.startswith(start)), -1)

    def declares(self, at: int, declaration: str) -> bool:
        """Whether a class of an element, as a rule or as a utility, declares something."""
        rules = (self.rule_line(name) for name in self.elements[at].classes)
        return any(line >= 0 and declaration in self.lines[line] for line in rules)

    def is_row(self, at: int) -> bool:
        names = self.elements[at].classes
        if self.declares(at, "display: flex") and not self.declares(at, "flex-direction: column"):
            return True
        return (
            self.declares(at, "grid-template-columns")
            or "grid" in names
            or ("flex" in names and "flex-col" not in names)
        )


Edits = Callable[[PageSource], str | None]  # returns the changed source, or None if there is nothing to change


def _replace_lines(source: PageSource, changed: dict[int, str]) -> str:
    return "\n".join(changed.get(at, line) for at, line in enumerate(source.lines))


def _add_to_element(source: PageSource, at: int, declaration: str, utility: str) -> dict[int, str]:
    """Change the look of an element: in the rule of its own class, else by a utility among its classes."""
    element = source.elements[at]
    users = Counter(name for other in source.elements for name in other.classes)
    for name in reversed(element.classes):
        line = source.rule_line(name)
        if line >= 0 and users[name] == 1:
            return {line: source.lines[line].replace(" }", f" {declaration}; }}")}
    named = source.lines[element.first]
    if element.classes:
        listed = " ".join(element.classes)
        return {element.first: named.replace(f'class="{listed}"', f'class="{listed} {utility}"', 1)}
    return {element.first: named.replace(f"<{element.tag}", f'<{element.tag} class="{utility}"', 1)}


def change_brand_colour(source: PageSource) -> str | None:
    accent = _ACCENT.search(source.text)
    if accent is not None:
        return source.text.replace(accent[1], "#b4235a")
    named = Counter(_NAMED_COLOUR.findall(source.text))
    literal = Counter(colour for colour in _HEX.findall(source.text) if _is_vivid(colour))
    if not named and not literal:
        return None
    if named and (not literal or named.most_common(1)[0][1] >= literal.most_common(1)[0][1]):
        return re.sub(rf"-{named.most_common(1)[0][0]}\b", "-rose-600", source.text)
    return source.text.replace(literal.most_common(1)[0][0], "#b4235a")


def _is_vivid(colour: str) -> bool:
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return max(parts) - min(parts) >= _VIVID


def _menu_links(source: PageSource) -> list[int]:
    menu = source.find("nav")
    return [at for at in source.inside(menu) if source.elements[at].tag == "a"] if menu >= 0 else []


def rename_menu_entry(source: PageSource) -> str | None:
    link = next((at for at in _menu_links(source) if source.elements[at].words), -1)
    if link < 0:
        return None
    element = source.elements[link]
    lines = range(element.first, element.last + 1)
    return _replace_lines(source, {at: source.lines[at].replace(element.words, "Welcome") for at in lines})


def add_menu_entry(source: PageSource) -> str | None:
    links = _menu_links(source)
    return _repeat_element(source, links[-1]) if links else None


def _repeat_element(source: PageSource, at: int) -> str:
    element = source.elements[at]
    around = source.elements[element.parent]
    if around.tag == "li":
        element = around
    copied = source.lines[element.first : element.last + 1]
    return "\n".join([*source.lines[: element.last + 1], *copied, *source.lines[element.last + 1 :]])


def add_card(source: PageSource) -> str | None:
    """Repeat the last of the largest elements that are alike: the same tag, and the same first class."""
    best = -1
    for parent in range(-1, len(source.elements)):
        alike: Counter[tuple[str, tuple[str, ...]]] = Counter()
        members: dict[tuple[str, tuple[str, ...]], int] = {}
        for child in source.children(parent):
            key = source.elements[child].tag, source.elements[child].classes[:1]
            alike[key] += 1
            members[key] = child
        for key, count in alike.items():
            size = len(source.inside(members[key]))
            if count >= 3 and size and (best < 0 or size > len(source.inside(best))):
                best = members[key]
    return _repeat_element(source, best) if best >= 0 else None


def swap_columns(source: PageSource) -> str | None:
    for at in range(len(source.elements)):
        columns = source.children(at)
        if len(columns) == 2 and source.is_row(at) and all(len(source.inside(column)) >= 3 for column in columns):
            return _replace_lines(
                source, _add_to_element(source, at, "flex-direction: row-reverse", "flex-row-reverse")
            )
    return None


def centre_hero(source: PageSource) -> str | None:
    heading = source.find(*_HEADINGS)
    if heading < 0 or source.elements[heading].parent < 0:
        return None
    hero = source.elements[heading].parent
    changed = _add_to_element(source, hero, "text-align: center", "text-center")
    for at in source.inside(hero):
        element = source.elements[at]
        if element.tag not in (*_HEADINGS, *_TEXTS):
            continue
        for name in element.classes:
            line = source.rule_line(name)
            if line >= 0 and "margin-left:" in source.lines[line]:
                changed[line] = re.sub(r" margin-left: [^;]+;", "", changed.get(line, source.lines[line]))
        if re.search(r"\b(?:ml-\d|text-left)", source.lines[element.first]):
            changed[element.first] = re.sub(
                r"\b(?:ml-\d+|text-left) ?", "", changed.get(element.first, source.lines[element.first])
            )
    return _replace_lines(source, changed)


def add_breakpoint(source: PageSource) -> str | None:
    """Stack all rows of columns on screens up to 600 pixels."""
    rows = [at for at in range(len(source.elements)) if source.is_row(at) and len(source.children(at)) > 1]
    if not rows:
        return None
    names = {name for at in rows for name in source.elements[at].classes if source.rule_line(name) >= 0}
    end = next((at for at, line in enumerate(source.lines) if line.strip() == "</style>"), -1)
    if names and end >= 0:
        chosen = ", ".join(f".{name}" for name in sorted(names))
        rule = ["@media (max-width: 600px) {", f"  {chosen} {{ flex-direction: column; }}", "}"]
        return "\n".join([*source.lines[:end], *rule, *source.lines[end:]])
    changed: dict[int, str] = {}
    for at in rows:
        changed |= _add_to_element(source, at, "", "max-sm:flex-col")
    return _replace_lines(source, changed)


def enlarge_text(source: PageSource) -> str | None:
    if re.search(r"--text-base: [\d.]+px;", source.text):
        return re.sub(r"--text-base: [\d.]+px;", "--text-base: 19px;", source.text, count=1)
    used = Counter(_SIZES.findall(source.text))
    if not used:
        return re.sub(r"<body", '<body style="font-size: 19px"', source.text, count=1)
    return re.sub(rf"\b{used.most_common(1)[0][0]}\b", "text-xl", source.text)


def widen_spacing(source: PageSource) -> str | None:
    steps = Counter(re.findall(r"var\((--space-[\w.]+)\)", source.text))
    if steps:
        return re.sub(rf"{steps.most_common(1)[0][0]}: [\d.]+px;", f"{steps.most_common(1)[0][0]}: 36px;", source.text)
    used = Counter(_SPACE.findall(source.text))
    if not used:
        return None
    chosen = used.most_common(1)[0][0]
    return re.sub(rf"\b{chosen}\b", f"{chosen.rpartition('-')[0]}-9", source.text)


def darken_header(source: PageSource) -> str | None:
    header = source.find("header", "nav")
    if header < 0:
        return None
    return _replace_lines(source, _add_to_element(source, header, "background: #111827", "bg-gray-900"))


TASKS: dict[str, Edits] = {
    "change the brand colour": change_brand_colour,
    "rename an entry of the menu": rename_menu_entry,
    "add an entry to the menu": add_menu_entry,
    "add a card": add_card,
    "swap two columns": swap_columns,
    "centre the hero": centre_hero,
    "add a breakpoint": add_breakpoint,
    "make the text larger": enlarge_text,
    "widen the spacing": widen_spacing,
    "make the header dark": darken_header,
}


def count_lines(before: str, after: str) -> int:
    """Return how many lines an edit changes, adds or removes."""
    matcher = SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != "equal")


def measure_tasks(text: str) -> dict[str, int | None]:
    """Return the lines that each task changes in a page; None if there is nothing to change."""
    source = PageSource(text)
    results = {name: edit(source) for name, edit in TASKS.items()}
    return {
        name: None if edited is None or edited == text else count_lines(text, edited)
        for name, edited in results.items()
    }


def read_stored(folder: Path, path: str) -> bytes:
    """Read a file of a folder, or of the newest commit of a git directory."""
    if (folder / path).is_file():
        return (folder / path).read_bytes()
    command = ["git", "-C", str(folder), "show", f"HEAD:{path}"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def _convert(picture: bytes) -> str:
    return str(write_files(arrange(detect_elements(picture)))["index.html"])


def _format(counts: Sequence[int | None]) -> str:
    done = [count for count in counts if count is not None]
    listed = " ".join("–" if count is None else str(count) for count in counts)
    return f"{median(done):g} ({listed})" if done else f"– ({listed})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", default="data/demo")
    parser.add_argument("--answers", default="data/direct_demo")
    parser.add_argument("--pages", nargs="+", default=list(PAGES))
    options = parser.parse_args()
    ours: list[dict[str, int | None]] = []
    theirs: list[dict[str, int | None]] = []
    for page in options.pages:
        ours.append(measure_tasks(_convert(read_stored(options.folder, f"{options.pictures}/{page}.png"))))
        theirs.append(measure_tasks(read_stored(options.folder, f"{options.answers}/{page}.html").decode()))
    print("| task | converter: median lines (each page) | other program | files |\n|---|---|---|---|")
    for name in TASKS:
        rows = [[counts[name] for counts in side] for side in (ours, theirs)]
        print(f"| {name} | {_format(rows[0])} | {_format(rows[1])} | 1 |")
    for label, side in (("converter", ours), ("other program", theirs)):
        counts = [count for page in side for count in page.values() if count is not None]
        print(f"{label}: {len(counts)} of {len(TASKS) * len(side)} tasks, {sum(counts)} lines, 1 file each")


if __name__ == "__main__":
    main()
