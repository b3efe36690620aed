"""What a text that was not found may have meant: the lines of a file that are most like it, in bounded time."""

import time
from difflib import SequenceMatcher

_SECONDS = 0.5
_MAX_LINES = 50_000
_MAX_COMPARED = 1_500
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 800
_CANDIDATES = 3
_ALIKE = 0.5


def nearest(text: str, wanted: str) -> str:
    """A sentence with the nearest candidates, their line numbers and their text; or what to do if there is none."""
    found = candidates(text, wanted)
    if not found:
        return " Nothing in it is alike; read the file and copy the text to replace exactly."
    parts = ["\nThe nearest candidates, to copy from exactly:"]
    for first, last, alike in found:
        lines = text.split("\n")[first - 1 : last]
        shown = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
        parts.append(f"--- lines {first}-{last} ({alike:.0%} alike)\n{shown}")
    return "\n".join(parts)


def candidates(text: str, wanted: str) -> list[tuple[int, int, float]]:
    """First line, last line and likeness of the places most like a text, best first."""
    deadline = time.monotonic() + _SECONDS
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES]
    wanted_lines = wanted.replace("\r\n", "\n").strip("\n").split("\n")
    anchor = max(range(len(wanted_lines)), key=lambda index: len(wanted_lines[index].strip()))
    grams = _trigrams(wanted_lines[anchor])
    if not grams:
        return []
    scored: list[tuple[float, int]] = []
    for index, line in enumerate(lines):
        if index % 256 == 0 and time.monotonic() > deadline:
            break
        own = _trigrams(line)
        common = len(grams & own)
        if common:
            scored.append((2 * common / (len(grams) + len(own)), index))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    found: dict[int, tuple[int, int, float]] = {}
    for _, index in scored[: 4 * _CANDIDATES]:
        if found and time.monotonic() > deadline:
            break
        first = max(0, index - anchor)
        last = min(len(lines), first + len(wanted_lines))
        alike = _likeness("\n".join(lines[first:last]), "\n".join(wanted_lines))
        if alike >= _ALIKE:
            found[first] = (first + 1, last, alike)
    return sorted(found.values(), key=lambda item: (-item[2], item[0]))[:_CANDIDATES]


def _trigrams(line: str) -> set[str]:
    line = " ".join(line[:_MAX_COMPARED].split())
    return {line[at : at + 3] for at in range(max(1, len(line) - 2))} if line else set()


def _likeness(first: str, second: str) -> float:
    matcher = SequenceMatcher(None, first[:_MAX_COMPARED], second[:_MAX_COMPARED], autojunk=True)
    return matcher.ratio()
