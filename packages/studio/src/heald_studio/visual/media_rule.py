"""Writes a style that holds up to a breakpoint as a rule in a media query, for elements without Tailwind."""

import re
from collections.abc import Mapping

from heald.core.lazy import lazy_pattern
from heald.core.markup import EndTag, StartTag, scan_html, start_tags
from heald_studio.visual.breakpoint import Breakpoint
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.class_edit import add_class, class_names
from heald_studio.visual.locate import Located
from heald_studio.visual.rule_edit import RuleEdits
from heald_studio.visual.sheet_rule import SheetRule, edit_declarations, plain_selector
from heald_studio.visual.text_replacement import TextReplacement

_EDIT_CLASS = lazy_pattern(r"edit-\d+")
_RULE = lazy_pattern(r"(?P<selector>[^{}]+)\{(?P<body>[^{}]*)\}")
_NUMBERED = lazy_pattern(r"\bedit-(\d+)\b")
_SHEETS = ("src/index.css", "src/main.css", "src/App.css", "src/app.css", "src/style.css", "style.css", "styles.css")


class MediaRules:
    """The rules of one edit. They are written into the style sheet of the project, or into the page."""

    def __init__(self, texts: Mapping[str, str], page: str, scope: Breakpoint, edits: RuleEdits) -> None:
        self._texts = texts
        self._page = page
        self._scope = scope
        self._edits = edits
        numbers = [int(number) for text in texts.values() for number in _NUMBERED.findall(text)]
        self._next = max(numbers, default=0) + 1
        self._classes: dict[tuple[str, int], str] = {}
        self._rules: dict[str, dict[str, str]] = {}

    def add(self, located: Located, style: Mapping[str, str], selectors: Mapping[str, str]) -> list[TextReplacement]:
        """Remember a style of an element, and return the replacements that give the element a class for it.

        Where a rule styles these elements only, the media query repeats its selector, and no class is needed. The rule
        of a class wins over the style attribute and over special selectors, so its values are important.
        """
        others: dict[str, str] = {}
        for name, value in style.items():
            rule = self._edits.find(name, selectors)
            if rule is not None and self._is_behind(rule):
                self._rules.setdefault(rule.selector, {})[name] = value
            else:
                others[name] = value
        return self._add_class(located, others) if others else []

    def _is_behind(self, rule: SheetRule) -> bool:
        """Whether the rules of this edit stand behind a rule, and so win over it."""
        place = self._sheet()
        if place is None or rule.file != place[0]:
            return False
        _, start, end, _ = place
        block = _find_block(self._texts[rule.file][start:end], f"@media {self._scope.media} {{")
        return block is None or rule.end < start + block[0]

    def _add_class(self, located: Located, style: Mapping[str, str]) -> list[TextReplacement]:
        key = (located.file, located.element.start)
        replacements: list[TextReplacement] = []
        name = next((name for name in class_names(located) if _EDIT_CLASS.fullmatch(name)), self._classes.get(key))
        if name is None:
            name = f"edit-{self._next}"
            self._next += 1
            replacements = add_class(located, name)
        self._classes[key] = name
        self._rules.setdefault(f".{name}", {}).update(style)
        return replacements

    def write(self) -> list[TextReplacement]:
        """Return the replacements that write the rules."""
        if not self._rules:
            return []
        place = self._sheet()
        if place is None:
            return [self._new_sheet()]
        file, start, end, indent = place
        sheet = self._texts[file][start:end]
        query = f"@media {self._scope.media} {{"
        block = _find_block(sheet, query)
        replacements: list[TextReplacement] = []
        added = ""
        for selector, style in self._rules.items():
            rule = _find_rule(sheet, block, selector) if block is not None else None
            if rule is None:
                written = _rule(selector, style)
                added += f"{indent}  {written}\n" if written else ""
                continue
            important = _important(selector)
            values = {name: f"{value}{important}" if value else "" for name, value in style.items()}
            text = edit_declarations(sheet[rule[0] : rule[1]], values)
            replacements.append(TextReplacement(file, start + rule[0], start + rule[1], text))
        if not added:
            return replacements
        if block is not None:
            closing = sheet.rfind("\n", 0, block[1]) + 1
            if closing <= block[0] or sheet[closing : block[1]].strip():  # rules stand in the line of the brace
                at = start + len(sheet[: block[1]].rstrip())
                return [
                    *replacements,
                    TextReplacement(file, at, at, "".join(f" {line.strip()}" for line in added.splitlines())),
                ]
            return [*replacements, TextReplacement(file, start + closing, start + closing, added)]
        body = sheet.rstrip()
        lead = "\n" if body or start else ""
        text = f"{lead}{indent}{query}\n{added}{indent}}}\n{_tail(sheet, body)}"
        return [*replacements, TextReplacement(file, start + len(body), start + len(sheet), text)]

    def _sheet(self) -> tuple[str, int, int, str] | None:
        """Return the file that holds the rules, from where to where its style sheet stands, and its indentation."""
        page = self._texts.get(self._page, "")
        for tag in reversed([tag for tag in start_tags(page) if tag.name == "style" and tag.content is not None]):
            start, end = tag.content or (0, 0)
            if tag.attributes.get("type") not in (None, "", "text/css"):
                continue
            line = page[page.rfind("\n", 0, tag.start) + 1 : tag.start]
            return self._page, start, end, (line if not line.strip() else "") + "  "
        files = [file for file in self._texts if file.endswith(".css") and not file.endswith(".module.css")]
        preferred = [file for file in _SHEETS if file in files]
        if preferred or len(files) == 1:
            file = (preferred or files)[0]
            return file, 0, len(self._texts[file]), ""
        return None

    def _new_sheet(self) -> TextReplacement:
        """Return a style element with the rules, at the end of the head of the page."""
        page = self._texts.get(self._page, "")
        tags = list(scan_html(page))
        at = next((tag.start for tag in tags if isinstance(tag, EndTag) and tag.name == "head"), None)
        if at is None:
            at = next((tag.start for tag in tags if isinstance(tag, StartTag) and tag.name == "body"), None)
        if at is None:
            raise CannotEdit("The page has no head, which the style sheet for a change at this width needs.")
        line = page.rfind("\n", 0, at) + 1
        indent = page[line:at] if not page[line:at].strip() else ""
        rules = "".join(f"{indent}      {_rule(selector, style)}\n" for selector, style in self._rules.items())
        query = f"{indent}    @media {self._scope.media} {{\n{rules}{indent}    }}\n"
        sheet = f"<style>\n{query}{indent}  </style>\n{indent}"
        return TextReplacement(self._page, at, at, f"{'  ' if indent or line == at else ''}{sheet}")


def _rule(selector: str, style: Mapping[str, str]) -> str:
    values = " ".join(f"{name}: {value}{_important(selector)};" for name, value in style.items() if value)
    return f"{selector} {{ {values} }}" if values else ""


def _important(selector: str) -> str:
    return " !important" if _EDIT_CLASS.fullmatch(selector.removeprefix(".")) else ""


def _tail(sheet: str, body: str) -> str:
    """Return what stands behind the last rule, from its last line on: the indentation of </style>."""
    rest = sheet[len(body) :]
    return rest.rpartition("\n")[2] if "\n" in rest else ""


def _find_block(sheet: str, query: str) -> tuple[int, int] | None:
    """Return from where to where the inside of a media query stands."""
    pattern = re.compile(re.escape(query).replace(r"\ ", r"\s*"))
    opened = pattern.search(sheet)
    if opened is None:
        return None
    depth = 1
    for brace in re.compile(r"[{}]").finditer(sheet, opened.end()):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opened.end(), brace.start()
    return None


def _find_rule(sheet: str, block: tuple[int, int], selector: str) -> tuple[int, int] | None:
    for rule in _RULE.finditer(sheet, *block):
        if plain_selector(rule["selector"]) == plain_selector(selector):
            return rule.start("body"), rule.end("body")
    return None
