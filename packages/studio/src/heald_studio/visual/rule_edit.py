"""Edits the rule that styles the changed elements and no others, instead of writing their style attributes."""

from collections.abc import Mapping

from heald_studio.visual.sheet_rule import SheetRule, edit_declarations, is_declared, plain_selector, sheet_rules
from heald_studio.visual.text_replacement import TextReplacement

_SIDED = ("padding", "margin")


class RuleEdits:
    """The changes of rules that one edit makes."""

    def __init__(self, texts: Mapping[str, str], page: str) -> None:
        self._texts = texts
        self._page = page
        self._rules: dict[str, list[SheetRule]] | None = None
        self._styles: dict[SheetRule, dict[str, str]] = {}

    def add(self, style: Mapping[str, str], selectors: Mapping[str, str]) -> dict[str, str]:
        """Remember the properties that a rule sets, and return the others. `selectors` names the rule of each.

        The sides of a space have the rule of the whole.
        """
        others: dict[str, str] = {}
        for name, value in style.items():
            rule = self.find(name, selectors)
            if rule is None:
                others[name] = value
            else:
                self._styles.setdefault(rule, {})[name] = value
        return others

    def find(self, name: str, selectors: Mapping[str, str]) -> SheetRule | None:
        """Return the rule that sets a property, or that can; None if the project has none, or in several files."""
        kind = name.partition("-")[0]
        selector = selectors.get(kind if kind in _SIDED else name, "")
        if not selector:
            return None
        if self._rules is None:
            self._rules = {}
            for rule in sheet_rules(self._texts, self._page):
                self._rules.setdefault(plain_selector(rule.selector), []).append(rule)
        candidates = self._rules.get(plain_selector(selector), [])
        if len({rule.file for rule in candidates}) != 1:
            return None
        declaring = [rule for rule in candidates if is_declared(self._texts[rule.file][rule.start : rule.end], name)]
        return (declaring or candidates)[-1]

    def write(self) -> list[TextReplacement]:
        """Return the replacements that change the rules."""
        replacements: list[TextReplacement] = []
        for rule, style in self._styles.items():
            body = self._texts[rule.file][rule.start : rule.end]
            written = edit_declarations(body, style)
            if written != body:
                replacements.append(TextReplacement(rule.file, rule.start, rule.end, written))
        return replacements
