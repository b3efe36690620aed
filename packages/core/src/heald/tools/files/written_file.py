"""Judges a file that a model wrote as text before it replaces the one that is there.

A fragment never replaces a file. What a model writes must be readable where the file was, hold its definitions, begin
and end as it does, and be no excerpt, no other file and not far shorter, unless the request asks for that. A fragment
is merged where its place is certain; anything else is refused.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald.tools.files.fragment import merge_fragment
from heald.tools.files.line_loss import find_lost_end, solid_lines
from heald.tools.files.outline import OutlinePart, read_outline
from heald.tools.files.syntax import find_syntax_problem

_REMOVES = lazy_pattern(
    r"\b(?:remov|delet|drop|strip|shorten|simplif|clean\s|reduc|trim|inlin|merg|combin|extract|mov(?:e|ing)|renam|"
    r"replac|rewrit|dedup|unused|duplicate|get\s+rid|without|no\s+longer|instead\s+of|from\s+scratch|start\s+over|"
    r"convert|translat|split|refactor)",
    re.I,
)
_ELISION = lazy_pattern(
    r"\s*(?:(?:#|//|--|;|/\*|<!--|\*)\s*)?(?:\[?(?:\.\.\.|…)\]?(?:\W*$|.*\b(?:rest|existing|same|unchanged|remain|other|more)\b)"
    r"|(?:\(?(?:the\s+)?(?:rest\s+of|existing\s+code|remaining\s+|other\s+(?:code|functions|methods|rules|parts)|"
    r"unchanged|same\s+as\s+before|as\s+before|code\s+omitted|omitted)))",
    re.I,
)
_COPIES = lazy_pattern(r"\b(?:cop(?:y|ies)|mov(?:e|ing)|split|extract|renam|duplicate|port|convert|based\s+on)", re.I)
_LEAST_SHARE = 0.5
_MOST_SHARE = 0.75
"""A fragment has at most this share of the lines of its file: more may be a file from which something was removed."""
_FEW_LINES = 8
"""A file with fewer lines is never far shorter."""
_MAX_NAMES = 5


class FileJudgement(msgspec.Struct, frozen=True):
    """What becomes of a written file: its text, or the reason why it is not written, without a full stop."""

    text: str = ""
    refusal: str = ""
    is_quotation: bool = False
    """Whether it is an excerpt of the file, word for word."""


def judge_file(
    path: str, before: str | None, written: str, request: str, others: Mapping[str, str] | None = None
) -> FileJudgement:
    """Return the text to write, or the reason to write nothing. `others` are the other files that the model saw."""
    before = None if before is None else before.replace("\r\n", "\n")
    written = written.replace("\r\n", "\n")
    if others and (other := _find_other(path, before or "", written, others, request)):
        return FileJudgement(refusal=f"What was written as {path} is the content of {other}")
    if before is None or not before.strip():
        return _judge_new(path, written)
    if written == before:
        return FileJudgement(written)
    if not before.endswith("\n"):
        written = written.removesuffix("\n")
    doubt = find_doubt(path, before, written, request, others or {})
    if doubt is None:
        return FileJudgement(written)
    if _is_excerpt(before, written):
        return FileJudgement(refusal=doubt, is_quotation=True)
    if not _find_elision(before, written) and _is_fragment(path, before, written):
        merged = merge_fragment(path, before, written)
        if merged is not None and merged != before and find_doubt(path, before, merged, request, {}) is None:
            return FileJudgement(merged)
    return FileJudgement(refusal=doubt)


def judge_change(path: str, before: str, after: str, request: str) -> str | None:
    """Return why the result of an edit is not written: it cannot be read, or it lacks definitions."""
    before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    return _find_problem(path, before, after) or _find_lost(path, before, after, request)


def _judge_new(path: str, written: str) -> FileJudgement:
    problem = find_syntax_problem(path, written)
    if problem is not None:
        return FileJudgement(refusal=f"{path} as it was written cannot be read: {problem}")
    return FileJudgement(written)


def find_doubt(path: str, before: str, written: str, request: str, others: Mapping[str, str]) -> str | None:
    """Describe for the model why what it wrote is not the whole file; None if it is."""
    last = written.rstrip().rpartition("\n")[2].strip().strip("`*:")
    if last in others and last not in before:
        return f"What was written as {path} ends with the name of {last}, the next file"
    if (problem := _find_problem(path, before, written)) is not None:
        return problem
    if (line := _find_elision(before, written)) is not None:
        return f"What was written as {path} leaves lines out ({line.strip()!r})"
    if (lost := _find_lost(path, before, written, request)) is not None:
        return lost
    return _find_missing_lines(path, before, written, request)


def _find_problem(path: str, before: str, after: str) -> str | None:
    problem = find_syntax_problem(path, after)
    if problem is None or find_syntax_problem(path, before) is not None:
        return None
    return f"{path} as it was written cannot be read: {problem}"


def _find_elision(before: str, written: str) -> str | None:
    """A line that stands for others, such as `# ... rest of the code`."""
    held = set(before.split("\n"))
    lines = [line for line in written.split("\n") if line not in held and _ELISION.match(line)]
    is_shorter = len(solid_lines(written)) <= len(solid_lines(before))
    return lines[0] if lines and is_shorter else None


def _find_lost(path: str, before: str, after: str, request: str) -> str | None:
    """Describe the parts of a file that it has no more. A request to remove or rename may name them."""
    had, has = (_names(read_outline(path, text)) for text in (before, after))
    lost, added = [name for name in had if name not in has], [name for name in has if name not in had]
    if len(lost) <= len(added):
        return None
    if _REMOVES.search(request):
        lost = [name for name in lost if not _is_mentioned(name, request)]
        if any(_is_mentioned(name, request) for name in had if name not in has):
            lost = [name for name in lost if not _stands_in_mentioned(name, request)]
    if len(lost) <= len(added):
        return None
    names = ", ".join(name.replace("\0", ".") for name in lost[:_MAX_NAMES])
    return f"What was written leaves out {names} of {path}"


def _is_fragment(path: str, before: str, written: str) -> bool:
    """Whether what was written holds only some of the parts of the file, and lacks its beginning or its end."""
    had, has = (set(_names(read_outline(path, text))) for text in (before, written))
    old, new = solid_lines(before), solid_lines(written)
    if not had - has or len(new) > len(old) * _MOST_SHARE:
        return False
    if path.endswith(".json"):
        return True  # an object begins and ends like any other
    return bool(find_lost_end(old, new) or find_lost_end(old[::-1], new[::-1]))


def _names(parts: Sequence[OutlinePart]) -> list[str]:
    return list(dict.fromkeys(part.name for part in parts))


def _is_mentioned(name: str, request: str) -> bool:
    """Whether a request names a part, such as a function, a key or a heading."""
    words = re.findall(r"\w+", re.split(r"[\0/]", name)[-1].rpartition(".")[2] or name)
    return bool(words) and all(re.search(rf"\b{re.escape(word)}\b", request, re.I) for word in words[-2:])


def _stands_in_mentioned(name: str, request: str) -> bool:
    """Whether a part stands inside one that the request names, such as a method of a class that is removed."""
    return any(_is_mentioned(outer, request) for outer in re.split(r"[\0./]", name)[:-1] if outer.strip())


def _find_missing_lines(path: str, before: str, written: str, request: str) -> str | None:
    old, new = solid_lines(before), solid_lines(written)
    removes = _REMOVES.search(request) is not None
    if len(old) >= _FEW_LINES and len(new) < len(old) * _LEAST_SHARE:
        parts = read_outline(path, before)
        named = sum(part.end - part.start for part in parts if removes and _is_mentioned(part.name, request))
        if len(new) < (len(old) - named) * _LEAST_SHARE:
            return f"What was written has {len(new)} lines, and {path} has {len(old)}"
    for end, texts in (("end", (old, new)), ("beginning", (old[::-1], new[::-1]))):
        lost = find_lost_end(*texts)
        if not lost:
            continue
        line = lost[0] if end == "end" else lost[-1]
        if removes and _names_part_of(line, request):
            continue
        return f"What was written leaves out the {end} of {path}, {line!r} and what belongs to it"
    return None


def _names_part_of(line: str, request: str) -> bool:
    """Whether the request names something of a line."""
    words = {word.lower() for word in re.findall(r"\w{3,}", request)}
    return any(word.lower() in words for word in re.findall(r"\w{3,}", line))


def _is_excerpt(before: str, written: str) -> bool:
    """Whether what was written is an excerpt of the file, word for word."""
    old, new = solid_lines(before), solid_lines(written)
    return len(new) < len(old) and any(old[at : at + len(new)] == new for at in range(len(old) - len(new) + 1))


def _find_other(path: str, before: str, written: str, others: Mapping[str, str], request: str) -> str | None:
    """The other file whose content was written under this path."""
    new = solid_lines(written)
    if not new:
        return None
    held = set(solid_lines(before))
    shared = sum(line in held for line in new)
    for other, text in others.items():
        lines = set(solid_lines(text))
        common = sum(line in lines for line in new)
        if other == path or not lines or common <= shared or common < len(new) * _LEAST_SHARE:
            continue
        is_namesake = other.rpartition("/")[2] == path.rpartition("/")[2]
        if not before.strip() and (path in request or _COPIES.search(request) or not is_namesake):
            continue  # a copy, or a part that is moved to a new file
        return other
    return None
