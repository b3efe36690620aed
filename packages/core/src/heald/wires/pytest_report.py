"""A report of pytest inside a request: the failing statements and what they said, without the traceback around them."""

import ast
import re

import msgspec

from heald.core.lazy import lazy_pattern

_PROGRESS = lazy_pattern(r"[.FEsxXR]+(?:\s+\[ *\d+%\])?\s*$")
_HEADING = lazy_pattern(r"={3,} (?:FAILURES|ERRORS) ={3,}\s*$")
_BLOCK = lazy_pattern(r"_{3,} (?P<name>.+?) _{3,}\s*$")
_SUMMARY = lazy_pattern(r"={3,} short test summary info ={3,}\s*$")
_END = lazy_pattern(r"(?:=+ )?\d+ (?:failed|error|passed).* in [\d.:]+s.*$")
_FRAME = lazy_pattern(r"(?P<place>\S+:\d+): in \S+")
_IMPORTER = lazy_pattern(r"\bimportlib/__init__\.py:")
_COLLECTING = "ERROR collecting "
_MARKS = lazy_pattern(r"[\s^~]+$")
_ERROR = lazy_pattern(r"E(?:   ?|$)")
_DIFFERS = lazy_pattern(
    r"AssertionError: (?:(?:List|Tuple|Dict|Set|Sequence)s differ: )?(?P<first>.+?) (?:!=|is not) (?P<second>.+)$", re.S
)
_MOST, _MOST_CHARACTERS = 6, 1_200
_LONG = 300
_DETAILS = 2
_EQUALITIES = ("assertEqual", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertIs")


class FailedTest(msgspec.Struct, frozen=True):
    """One test that failed: in words, the expression or statement that was wrong, and how."""

    name: str
    statement: str
    fault: str
    place: str = ""
    """The line in which it failed, if that is not the statement itself."""

    def __str__(self) -> str:
        place = f" (at {self.place})" if self.place else ""
        return "\n  ".join(line for line in (f"{self.name}: {self.statement}", f"{self.fault}{place}") if line)


def read_failures(text: str) -> list[FailedTest]:
    """Return the failures of a report in a text, the first ones of all faults before further ones."""
    span = _find_report(text.split("\n"))
    return [] if span is None else _read_blocks(text.split("\n")[span[0] : span[1]])


def shorten_report(text: str) -> str:
    """Replace a report in a text by its failures. A text without a report stays as it is."""
    lines = text.split("\n")
    span = _find_report(lines)
    failures = [] if span is None else _read_blocks(lines[span[0] : span[1]])
    if span is None or not failures:
        return text
    parts: list[str] = []
    for failure in failures[:_MOST]:
        if parts and sum(map(len, parts)) + len(str(failure)) > _MOST_CHARACTERS:
            break
        parts.append(f"- {failure}")
    short = "\n".join(["Failing tests:", *parts, ""])
    return "\n".join([*lines[: span[0]], short, *lines[span[1] :]])


def _find_report(lines: list[str]) -> tuple[int, int] | None:
    """The lines of a report: from its progress on to its last line, or to a ruler or fence behind it."""
    heading = next((at for at, line in enumerate(lines) if _HEADING.match(line)), None)
    if heading is None:
        return None
    start = heading
    while start > 0 and (_PROGRESS.match(lines[start - 1]) or not lines[start - 1].strip()):
        start -= 1
    while start < heading and not lines[start].strip():
        start += 1
    for at in range(heading, len(lines)):
        if _END.match(lines[at]):
            return start, at + 1
        if lines[at].rstrip() in ("---", "```", "~~~"):
            return start, at
    return start, len(lines)


def _read_blocks(lines: list[str]) -> list[FailedTest]:
    blocks: list[tuple[str, list[str]]] = []
    for line in lines:
        if _SUMMARY.match(line):
            break
        if block := _BLOCK.match(line):
            blocks.append((_name_test(block["name"]), []))
        elif blocks:
            blocks[-1][1].append(line)
    failures = [failure for failure in (_read_block(*block) for block in blocks) if failure is not None]
    failures = list({(failure.statement, failure.fault): failure for failure in failures}.values())
    faults = [failure.fault for failure in failures]
    return sorted(failures, key=lambda failure: faults.index(failure.fault) != failures.index(failure))  # stable


def _name_test(name: str) -> str:
    """A test in words, or the file that could not be imported."""
    if name.startswith(_COLLECTING):
        return name.removeprefix(_COLLECTING)
    return name.rpartition(".")[2].removeprefix("test_").replace("_", " ")


def _read_block(name: str, lines: list[str]) -> FailedTest | None:
    """Read the first statement, the last one and the fault of a failure."""
    first = next((at for at, line in enumerate(lines) if _ERROR.match(line)), None)
    if first is None:
        return None
    frames: list[tuple[str, list[str]]] = []
    for line in lines[:first]:
        if frame := _FRAME.match(line):
            if frames and _IMPORTER.search(frames[0][0]):
                frames.clear()
            frames.append((frame["place"], []))
        elif frames and line.strip() and not _MARKS.match(line):
            frames[-1][1].append(line.strip())
    statement = " ".join(frames[0][1]) if frames else ""
    place = f"{frames[-1][0]}: {' '.join(frames[-1][1])}" if len(frames) > 1 else ""
    errors: list[str] = []
    for line in lines[first:]:
        if not _ERROR.match(line):
            break
        errors.append(line[1:].strip())
    statement, fault = _describe(statement, errors)
    return FailedTest(name, _cut(statement), _cut(fault), _cut(place))


def _describe(statement: str, errors: list[str]) -> tuple[str, str]:
    """Return the expression or statement that failed, and how."""
    differs = _DIFFERS.match(errors[0])
    if differs is not None and " != " not in differs["second"]:
        values = _compared_values(statement)
        if values is not None:
            names = ("got", "expected") if values[0] else ("expected", "got")
            return values[1], f"{names[0]} {differs['first']}, {names[1]} {differs['second']}"
    details = [line for line in errors[1:] if line.startswith(("+  where", "and "))]
    return statement, " ".join([errors[0], *details[:_DETAILS]])


def _compared_values(statement: str) -> tuple[bool, str] | None:
    """The expression of an equality that calls the code, and whether it stands first, if only one of the two does."""
    try:
        tree = ast.parse(statement, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return None
    if tree.func.attr not in _EQUALITIES or not tree.args[1:]:
        return None
    calls = [any(isinstance(node, ast.Call) for node in ast.walk(argument)) for argument in tree.args[:2]]
    return (calls[0], ast.unparse(tree.args[calls.index(True)])) if sum(calls) == 1 else None


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
