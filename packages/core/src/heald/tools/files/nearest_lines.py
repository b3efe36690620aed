"""Finds the lines of a text that are most similar to a text that is not in it."""

import time
from difflib import SequenceMatcher

_SECONDS = 0.5
_MAX_LINES = 50_000
_MAX_COMPARED = 1_500
_SHOWN_LINES = 12
_SHOWN_CHARACTERS = 800
_CANDIDATES = 3
_ALIKE = 0.5


def describe_nearest(text: str, old_text: str) -> str:
    """Return a message with the most similar places, or with advice if there are none."""
    places = candidates(text, old_text)
    if not places:
        return " Nothing in it is alike; read the file and copy the text to replace exactly."
    parts = ["\nThe nearest candidates, to copy from exactly:"]
    for first, last, alike in places:
        lines = text.split("\n")[first - 1 : last]
        excerpt = "\n".join(lines[:_SHOWN_LINES])[:_SHOWN_CHARACTERS]
        parts.append(f"--- lines {first}-{last} ({alike:.0%} alike)\n{excerpt}")
    return "\n".join(parts)


def candidates(text: str, old_text: str) -> list[tuple[int, int, float]]:
    """Return first line, last line and similarity of the places most similar to a text, best first."""
    deadline = time.monotonic() + _SECONDS
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES]
    old_lines = old_text.replace("\r\n", "\n").strip("\n").split("\n")
    anchor = max(range(len(old_lines)), key=lambda index: len(old_lines[index].strip()))
    grams = _trigrams(old_lines[anchor])
    if not grams:
        return []
    scored: list[tuple[float, int]] = []
    for index, line in enumerate(lines):
        if index % 256 == 0 and time.monotonic() > deadline:
            break
        line_grams = _trigrams(line)
        common = len(grams & line_grams)
        if common:
            scored.append((2 * common / (len(grams) + len(line_grams)), index))
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    places: dict[int, tuple[int, int, float]] = {}
    for _, index in scored[: 4 * _CANDIDATES]:
        if places and time.monotonic() > deadline:
            break
        first = max(0, index - anchor)
        last = min(len(lines), first + len(old_lines))
        alike = _likeness("\n".join(lines[first:last]), "\n".join(old_lines))
        if alike >= _ALIKE:
            places[first] = (first + 1, last, alike)
    return sorted(places.values(), key=lambda item: (-item[2], item[0]))[:_CANDIDATES]


def _trigrams(line: str) -> set[str]:
    line = " ".join(line[:_MAX_COMPARED].split())
    return {line[at : at + 3] for at in range(max(1, len(line) - 2))} if line else set()


def _likeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first[:_MAX_COMPARED], second[:_MAX_COMPARED], autojunk=True).ratio()
