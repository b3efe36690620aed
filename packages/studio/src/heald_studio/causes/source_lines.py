"""The lines of a project that make an element: its markup, and the rules of the sheets that style it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from heald.core.markup import start_tags
from heald_studio.browser.tab import Tab
from heald_studio.causes.cause import LineKind
from heald_studio.prompt.history import decode_text
from heald_studio.visual.locate import RenderedElement, SourceTrees

_LEAST_SAME = 0.8  # the share of a sheet's lines that are those of a file
_MAX_RULES = 40
_PAGES = (".htm", ".html", ".svg", ".vue", ".svelte", ".astro")


class SourceLines(msgspec.Struct, frozen=True):
    """Lines of a file, counted from 1; both ends belong to it."""

    file: str
    first: int
    last: int
    kind: LineKind


class StyleRule(msgspec.Struct, frozen=True):
    """A rule that styles the element: the text of its sheet, and its lines there, counted from 0."""

    sheet: str
    first: int
    last: int


def markup_lines(files: Mapping[str, bytes], page: str, path: str, mark: str) -> SourceLines | None:
    """Return the lines of an element's markup; None if no file has it. `mark` is the preview's note of its source."""
    located = SourceTrees(files, page).locate(RenderedElement(path=path, source=mark))
    if located is None:
        return None
    end = max(located.element.end, located.element.open_end)
    first = located.source.count("\n", 0, located.element.start) + 1
    last = located.source.count("\n", 0, max(end - 1, 0)) + 1
    return SourceLines(located.file, first, max(first, last), "markup")


async def read_style_rules(tab: Tab, path: str) -> list[StyleRule]:
    """Read the rules that match an element of the page that a tab shows, the weakest first."""
    await tab.call("DOM.enable")
    await tab.call("CSS.enable")
    root = (await tab.call("DOM.getDocument", {"depth": 0}))["root"]["nodeId"]
    node = (await tab.call("DOM.querySelector", {"nodeId": root, "selector": path}))["nodeId"]
    if not node:
        return []
    matched: list[dict[str, Any]] = (await tab.call("CSS.getMatchedStylesForNode", {"nodeId": node})).get(
        "matchedCSSRules", []
    )
    sheets: dict[str, str] = {}
    rules: list[StyleRule] = []
    for match in matched[-_MAX_RULES:]:
        rule = match["rule"]
        selectors = [selector["range"] for selector in rule["selectorList"]["selectors"] if "range" in selector]
        block = rule["style"].get("range")
        if rule.get("origin") != "regular" or "styleSheetId" not in rule or not selectors or block is None:
            continue
        name: str = rule["styleSheetId"]
        if name not in sheets:
            sheets[name] = (await tab.call("CSS.getStyleSheetText", {"styleSheetId": name}))["text"]
        rules.append(StyleRule(sheets[name], selectors[0]["startLine"], block["endLine"]))
    return rules


def style_lines(files: Mapping[str, bytes], rules: Sequence[StyleRule]) -> list[SourceLines]:
    """Return the lines of rules in the files of the project. Rules of a sheet that a script makes have none."""
    sheets = list(_written_sheets(files))
    lines: dict[SourceLines, None] = {}
    for rule in rules:
        text = rule.sheet.splitlines()
        for file, start, written in sheets:
            if len(written) == len(text) and _same_share(written, text) >= _LEAST_SAME:
                lines[SourceLines(file, start + rule.first, start + rule.last, "style")] = None
                break
    return sorted(lines, key=lambda part: (part.file, part.first))


def _written_sheets(files: Mapping[str, bytes]) -> list[tuple[str, int, list[str]]]:
    """Return the sheets that are written in the files: the file, the line that each begins in, and its lines."""
    sheets: list[tuple[str, int, list[str]]] = []
    for path, data in files.items():
        text = decode_text(data)
        if text is None:
            continue
        if path.endswith(".css"):
            sheets.append((path, 1, text.splitlines()))
        elif path.lower().endswith(_PAGES):
            contents = [tag.content for tag in start_tags(text) if tag.name == "style" and tag.content is not None]
            sheets += [(path, text.count("\n", 0, start) + 1, text[start:end].splitlines()) for start, end in contents]
    return sheets


def _same_share(written: Sequence[str], text: Sequence[str]) -> float:
    """Return the share of lines that are the same; addresses in a served sheet differ from those in the file."""
    if not text:
        return 0.0
    return sum(line.strip() == other.strip() for line, other in zip(written, text, strict=True)) / len(text)
