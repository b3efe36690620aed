"""Merges rules of CSS into the style sheets of a project: what they declare replaces what is declared there."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.sheet_rule import (
    CssBlock,
    SheetRule,
    css_blocks,
    declarations_of,
    edit_declarations,
    plain_selector,
    sheet_rules,
    sheet_spans,
)

_COMMA = lazy_pattern(r",(?![^(\[]*[)\]])")
_HEAD_END = lazy_pattern(r"</head\s*>", re.IGNORECASE)


class MergedRules(msgspec.Struct, frozen=True):
    """Texts with merged rules."""

    texts: dict[str, str]
    """The files that change."""
    changed: int
    """How many rules of the project were changed."""
    added: int


def merge_rules(texts: Mapping[str, str], page: str, css: str) -> MergedRules:
    """Merge rules into the style sheets of a page: a rule with the same selector gets the declarations, and others are
    added. Blocks such as `@media` are added as they are. Raises CannotEdit."""
    merging = _Merging(texts, page)
    blocks = list(css_blocks(css, 0, len(css)))
    if not blocks:
        raise CannotEdit("There is no rule in this CSS; write rules such as .card { padding: 8px }.")
    for block in blocks:
        merging.add(css, block)
    return merging.result()


class _Merging:
    def __init__(self, texts: Mapping[str, str], page: str) -> None:
        self._before = texts
        self._texts = dict(texts)
        self._page = page
        self._changed: set[str] = set()
        self._added: list[str] = []

    def result(self) -> MergedRules:
        changed = {file: text for file, text in self._texts.items() if text != self._before[file]}
        return MergedRules(changed, len(self._changed), len(self._added))

    def add(self, css: str, block: CssBlock) -> None:
        body = css[block.start : block.end]
        if not block.is_rule:
            self._insert(css[block.outer_start : block.end + 1].strip(), last=True)
            return
        style = declarations_of(body)
        if not style:
            raise CannotEdit(f"{block.selector} has no declaration; write name: value for each property.")
        # A rule for the whole list comes before the rules of its members.
        if self._change(block.selector, style):
            return
        others = [selector for selector in _COMMA.split(block.selector) if not self._change(selector, style)]
        if others:
            declared = " ".join(f"{name}: {value};" for name, value in style.items())
            self._insert(f"{', '.join(selector.strip() for selector in others)} {{ {declared} }}", last=False)

    def _change(self, selector: str, style: Mapping[str, str]) -> bool:
        """Change the last rule with this selector; return whether there is one."""
        plain = plain_selector(selector)
        rules = [rule for rule in self._rules() if plain_selector(rule.selector) == plain]
        if not rules:
            return False
        rule = rules[-1]
        text = self._texts[rule.file]
        body = text[rule.start : rule.end]
        longhands = dict.fromkeys(
            (
                declared
                for declared in declarations_of(body)
                if declared not in style and any(declared.startswith(f"{name}-") for name in style)
            ),
            "",
        )
        body = edit_declarations(body, {**longhands, **style})
        self._texts[rule.file] = text[: rule.start] + body + text[rule.end :]
        self._changed.add(f"{rule.file} {plain}")
        return True

    def _rules(self) -> Iterator[SheetRule]:
        return sheet_rules(self._texts, self._page)

    def _insert(self, block: str, *, last: bool) -> None:
        """Add a block to the sheet: at its end, or behind its last rule, so that `@media` blocks still apply."""
        spans = list(sheet_spans(self._texts, self._page))
        if not spans:
            self._begin_sheet(block)
            return
        file, start, end = spans[-1]
        text = self._texts[file]
        rules = [rule for rule in self._rules() if rule.file == file and start <= rule.start <= end]
        place = len(text[:end].rstrip()) if last or not rules else rules[-1].end + 1
        place = max(place, start)
        self._texts[file] = f"{text[:place]}\n{block}{text[place:] or chr(10)}"
        self._added.append(block)

    def _begin_sheet(self, block: str) -> None:
        text = self._texts.get(self._page, "")
        head = _HEAD_END.search(text)
        if head is None:
            raise CannotEdit("The project has no style sheet, and its page has no head to write one into.")
        self._texts[self._page] = f"{text[: head.start()]}<style>\n{block}\n</style>\n{text[head.start() :]}"
        self._added.append(block)
