"""Puts an element of one page into another: its markup, the rules that style it, and the files that it shows."""

import hashlib
import re
from collections.abc import Mapping
from typing import Literal

from heald.core.lazy import lazy_pattern
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.locate import Located, RenderedElement, SourceTrees

PartPlace = Literal["replace", "before", "after"]
ATTRIBUTE = "data-part"
_REFERENCE = lazy_pattern(r"""(?:(?:src|href|poster)\s*=\s*["']?|url\(\s*["']?)(?P<path>[^"'\s)>]+)""", re.IGNORECASE)
_HEAD_END = lazy_pattern(r"</head\s*>", re.IGNORECASE)


def scope_of(name: str) -> str:
    """Return the selector of a part that was put into a page."""
    return f'[{ATTRIBUTE}="{name}"]'


def name_part(markup: str) -> str:
    """Return a name for a part that is the same for the same markup."""
    return hashlib.sha256(markup.encode()).hexdigest()[:8]


def locate(files: Mapping[str, bytes], page: str, path: str) -> Located:
    """Return an element in the markup of a page. Raises CannotEdit if a script makes it."""
    located = SourceTrees(files, page).locate(RenderedElement(path=path))
    if located is None or located.file != page:
        raise CannotEdit("A script makes this element, so it cannot be put elsewhere; ask a model for it.")
    return located


def transplant(
    files: Mapping[str, bytes],
    target: Located,
    source_files: Mapping[str, bytes],
    source: Located,
    rules: str,
    place: PartPlace,
) -> dict[str, bytes]:
    """Return the files of the target that change."""
    markup = source.source[source.element.start : max(source.element.end, source.element.open_end)]
    name = name_part(markup)
    at = source.element.name_end - source.element.start
    if rules:
        markup = f'{markup[:at]} {ATTRIBUTE}="{name}"{markup[at:]}'
    changed: dict[str, bytes] = {}
    for path in {match["path"] for match in _REFERENCE.finditer(markup + rules)}:
        file = path.removeprefix("./").removeprefix("/")
        data = source_files.get(file)
        if data is None or file.endswith((".html", ".htm")) or files.get(file) == data:
            continue
        new = file if file not in files else _renamed(file, name)
        changed[new] = data
        if new != file:
            address = path.replace(file, new)
            markup, rules = markup.replace(path, address), rules.replace(path, address)
    start, end = target.element.start, max(target.element.end, target.element.open_end)
    text = target.source
    match place:
        case "replace":
            text = text[:start] + markup + text[end:]
        case "before":
            text = f"{text[:start]}{markup}\n{text[start:]}"
        case "after":
            text = f"{text[:end]}\n{markup}{text[end:]}"
    if rules:
        text = _with_style(text, rules)
    return {**changed, target.file: text.encode()}


def _renamed(file: str, name: str) -> str:
    stem, dot, ending = file.rpartition(".")
    return f"{stem}-{name}{dot}{ending}" if dot else f"{file}-{name}"


def _with_style(text: str, rules: str) -> str:
    """Return a page with more rules, behind those that it has in its head."""
    sheet = f"<style>\n{rules.strip()}\n</style>\n"
    match = _HEAD_END.search(text)
    return f"{text[: match.start()]}{sheet}{text[match.start() :]}" if match is not None else sheet + text
