"""Names the sections of a page by ids, and leads links to the section that their words name."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace

from heald_local.arrange.controls import collect_texts
from heald_local.arrange.part import Part

_WORD = re.compile(r"[a-z][a-z0-9]*")
_EMPTY = frozenset({"the", "a", "an", "of", "and", "to", "for", "in", "on", "with", "our", "your", "is", "are", "that"})
_HEADINGS = ("h1", "h2", "h3")
_TAKEN = frozenset({"root", "app", "field", "icon", "mark"})  # beginnings of ids that a page has for other things
_LONGEST_ID = 24
_SHORTEST_NAME = 2  # letters of a link that names a section


def slug(text: str, most: int = 2) -> str:
    """Return the first meaningful words of a text in the form of a class; empty if it has none in Latin letters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = [word for word in _WORD.findall(plain) if word not in _EMPTY and len(word) > 1]
    return "-".join(words[:most])[:_LONGEST_ID].strip("-")


def mark_anchors(body: Part) -> Part:
    """Give each section an id after its heading; let links with the words of a heading lead to its section."""
    names: dict[int, str] = {}
    headings: dict[str, str] = {}
    for section in _find_sections(body):
        heading = _find_heading(section)
        words = " ".join(text.text for text in collect_texts(heading)) if heading is not None else ""
        is_hero = heading is not None and heading.tag == "h1"
        names[id(section)] = _choose_id("hero" if is_hero else slug(words), set(names.values()))
        headings[names[id(section)]] = words
    return _mark(body, names, headings) if names else body


def _find_sections(part: Part) -> list[Part]:
    sections = [part] if part.tag == "section" else []
    return sections + [section for child in part.children for section in _find_sections(child)]


def _find_heading(part: Part) -> Part | None:
    if part.tag in _HEADINGS:
        return part
    return next((heading for child in part.children if (heading := _find_heading(child)) is not None), None)


def _choose_id(preferred: str, used: set[str]) -> str:
    """Return a free id: the wanted one, or else `section-2` after the number of ids so far."""
    name = f"{preferred}-section" if preferred in _TAKEN else preferred or f"section-{len(used) + 1}"
    number = 2
    chosen = name
    while chosen in used:
        chosen, number = f"{name}-{number}", number + 1
    return chosen


def _mark(part: Part, names: Mapping[int, str], headings: Mapping[str, str]) -> Part:
    attributes = part.attributes
    if id(part) in names:
        attributes = (("id", names[id(part)]), *attributes)
    if part.text is not None and ("href", "#") in attributes and part.tag == "a":
        target = _find_target(part.text.text, headings)
        attributes = tuple(("href", f"#{target}") if pair == ("href", "#") else pair for pair in attributes)
    return replace(
        part, attributes=attributes, children=tuple(_mark(child, names, headings) for child in part.children)
    )


def _find_target(words: str, headings: Mapping[str, str]) -> str:
    """Return the id of the only section whose heading has these words; empty if there is none, or several."""
    phrase = words.casefold().strip()
    if len(phrase) < _SHORTEST_NAME:
        return ""
    whole = re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)") if phrase.isascii() else re.compile(re.escape(phrase))
    ids = [name for name, heading in headings.items() if whole.search(heading.casefold())]
    return ids[0] if len(ids) == 1 else ""
