"""Merges a part of a file into the file, where its place is certain: the same definition, key, rule or section."""

import json
import re
import textwrap
from collections.abc import Sequence
from typing import cast

from heald.tools.files.line_loss import find_lost_end, solid_lines
from heald.tools.files.outline import OutlinePart, read_outline
from heald.tools.files.syntax import BRACE_LANGUAGES

_LEAST_SHARE = 0.5
"""A part that replaces another one has at least this share of its lines: else it may be shortened itself."""
_MERGED_LANGUAGES = BRACE_LANGUAGES | {"py", "pyi", "yaml", "yml", "toml", "sql", "md", "markdown"}


def merge_fragment(path: str, before: str, fragment: str) -> str | None:
    """Return the file with the parts that the fragment holds; None if the place of one of its lines is not certain."""
    suffix = path.rpartition(".")[2].lower()
    before, fragment = before.replace("\r\n", "\n"), fragment.replace("\r\n", "\n")
    if suffix == "json":
        return _merge_json(before, fragment)
    if suffix not in _MERGED_LANGUAGES:
        return None
    dedented = textwrap.dedent(fragment)
    places = read_outline(path, before)
    parts = _choose_parts(read_outline(path, dedented), places)
    if not parts or not _covers(parts, dedented, before):
        return None
    lines, new_lines = before.split("\n"), dedented.split("\n")
    replacements: list[tuple[OutlinePart, list[str]]] = []
    for part in parts:
        place = _find_place(part, places)
        if place is None or any(place.start < other.end and other.start < place.end for other, _ in replacements):
            return None
        new = _indent_like(new_lines[part.start : part.end], lines[place.start : place.end])
        if _is_shortened(lines[place.start : place.end], new):
            return None
        replacements.append((place, new))
    for place, new in sorted(replacements, key=lambda replacement: -replacement[0].start):
        lines[place.start : place.end] = new
    return "\n".join(lines)


def _choose_parts(parts: Sequence[OutlinePart], places: Sequence[OutlinePart]) -> list[OutlinePart]:
    """The outermost parts of a fragment. One that lacks parts of the same one in the file stands for those it has."""
    chosen: list[OutlinePart] = []
    for part in parts:
        if any(outer.start <= part.start and part.end <= outer.end for outer in chosen):
            continue
        inside = [other for other in parts if other is not part and part.start <= other.start and other.end <= part.end]
        place = _find_place(part, places)
        if place is not None and inside:
            names = {other.name for other in inside}
            had = {other.name for other in places if place.start < other.start and other.end <= place.end}
            if had - names:
                chosen += _choose_parts(inside, places)
                continue
        chosen.append(part)
    return chosen


def _find_place(part: OutlinePart, places: Sequence[OutlinePart]) -> OutlinePart | None:
    """The part of the file with the same name, if there is exactly one. A method may stand without its class."""
    same = [place for place in places if place.name == part.name]
    if not same and part.may_lack_owner:
        same = [place for place in places if place.name.rpartition(".")[2] == part.name]
    return same[0] if len(same) == 1 and same[0].end > same[0].start else None


def _covers(parts: Sequence[OutlinePart], fragment: str, before: str) -> bool:
    """Whether every line of a fragment belongs to a part, or stands in the file already."""
    held = {line.strip() for line in before.split("\n")}
    for at, line in enumerate(fragment.split("\n")):
        if line.strip() and not any(part.start <= at < part.end for part in parts) and line.strip() not in held:
            return False
    return True


def _indent_like(new: Sequence[str], old: Sequence[str]) -> list[str]:
    """The new lines with the indentation of the first old one."""
    before = re.match(r"[ \t]*", old[0] if old else "")
    dedented = textwrap.dedent("\n".join(new))
    return textwrap.indent(dedented, before[0] if before is not None else "").split("\n")


def _is_shortened(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether a part that replaces another one lacks its end, or has far fewer lines."""
    before, after = solid_lines("\n".join(old)), solid_lines("\n".join(new))
    return len(after) < len(before) * _LEAST_SHARE or bool(find_lost_end(before, after))


def _merge_json(before: str, fragment: str) -> str | None:
    """Set the keys of an object. An object or a list in it must hold all that it held before."""
    try:
        old, new = json.loads(before), json.loads(fragment)
    except (ValueError, RecursionError):
        return None
    if not isinstance(old, dict) or not isinstance(new, dict) or not new:
        return None
    whole, changes = cast("dict[str, object]", old), cast("dict[str, object]", new)
    for indentation in (2, 4, "\t"):
        if json.dumps(whole, indent=indentation, ensure_ascii=False) == before.rstrip("\n"):
            break
    else:
        return None
    for key, value in changes.items():
        if key not in whole or not _holds_all(whole[key], value):
            return None
    return json.dumps(whole | changes, indent=indentation, ensure_ascii=False) + "\n" * before.endswith("\n")


def _holds_all(old: object, new: object) -> bool:
    if isinstance(old, dict) and isinstance(new, dict):
        had, has = cast("dict[str, object]", old), cast("dict[str, object]", new)
        return had.keys() <= has.keys() and all(_holds_all(had[key], has[key]) for key in had)
    if isinstance(old, list):
        return isinstance(new, list) and len(cast("list[object]", new)) >= len(cast("list[object]", old))
    return not isinstance(old, dict)
