"""Changes elements of a page together: text, style, attributes and order. No model is called.

A change is code of the stack: classes where the project uses Tailwind, else the rule that styles these elements and no
others, else the style attribute. A change that holds up to a breakpoint is a rule in a media query. Only what changes
is written anew.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from heald.core.lazy import lazy_pattern
from heald_studio.visual.attribute_edit import set_attribute
from heald_studio.visual.breakpoint import Breakpoint
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.class_edit import edit_tailwind
from heald_studio.visual.locate import RenderedElement, SourceTrees, element_name, require
from heald_studio.visual.media_rule import MediaRules
from heald_studio.visual.move_element import Place, join_insertions, move_element
from heald_studio.visual.rule_edit import RuleEdits
from heald_studio.visual.style_edit import edit_style
from heald_studio.visual.text_edit import edit_text
from heald_studio.visual.text_replacement import TextReplacement, apply_replacements

_PROPERTY = lazy_pattern(r"[a-z][a-z-]{1,40}")
_SCRIPTS = (".jsx", ".tsx", ".js", ".ts", ".vue", ".svelte", ".astro", ".html", ".htm", ".svg")
_TEXT_FILES = (*_SCRIPTS, ".mjs", ".css", ".json")
_TAILWIND_MARKS = lazy_pattern(
    r"cdn\.tailwindcss\.com|@tailwindcss/browser|@import\s+[\"']tailwindcss|@tailwind\s+utilities"
    r"|\"tailwindcss\"\s*:"
)


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """The place that an element is moved to."""

    target: RenderedElement
    place: Place


class VisualChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change of one element. None leaves a part as it is."""

    element: RenderedElement
    text: str | None = None
    before: str = ""
    """The text that the element showed, for elements whose text is not in the markup."""
    style: dict[str, str] = {}
    """CSS properties; an empty value removes one."""
    rules: dict[str, str] = {}
    """The selector of the rule that sets a property for the changed elements only, as the preview reports it."""
    attributes: dict[str, str] = {}
    move: Move | None = None

    @property
    def parts(self) -> list[str]:
        """What it changes, in words."""
        moved = ["order"] if self.move is not None else []
        return [*(["text"] if self.text is not None else []), *self.style, *self.attributes, *moved]


def describe_changes(changes: Sequence[VisualChange]) -> str:
    """Describe changes for the list of what can be undone."""
    parts = list(dict.fromkeys(part for change in changes for part in change.parts))
    names = list(dict.fromkeys(element_name(change.element.path) or "an element" for change in changes))
    subject = names[0] if len(changes) == 1 else f"{len(changes)} elements"
    return f"edit of {subject} ({', '.join(parts)})"


def edit_elements(
    files: Mapping[str, bytes], page: str, changes: Sequence[VisualChange], scope: Breakpoint | None = None
) -> dict[str, bytes]:
    """Return the files that change. Raises CannotEdit whose message names the alternative."""
    scope = scope or Breakpoint()
    trees = SourceTrees(files, page)
    texts = {file: trees.text(file) for file in files if file.endswith(_TEXT_FILES)}
    edits = RuleEdits(texts, page)
    rules = MediaRules(texts, page, scope, edits)
    is_tailwind = any(_TAILWIND_MARKS.search(text) for text in texts.values())
    replacements: list[TextReplacement] = []
    moves: list[TextReplacement] = []
    are_several = sum(change.move is not None for change in changes) > 1
    for change in changes:
        check_style(change.style)
        if change.move is not None:
            moves += _move(trees, change, are_several=are_several)
            continue
        replacements += _replacements(trees, texts, change, scope, None if is_tailwind else (edits, rules))
    replacements += [*join_insertions(moves), *edits.write(), *rules.write()]
    changed = apply_replacements(texts, replacements)
    return {file: text.encode() for file, text in changed.items()}


def _replacements(
    trees: SourceTrees,
    texts: Mapping[str, str],
    change: VisualChange,
    scope: Breakpoint,
    sheets: tuple[RuleEdits, MediaRules] | None,
) -> list[TextReplacement]:
    """Return the replacements of one change. Without sheets the project uses Tailwind."""
    located = trees.locate(change.element)
    if located is None and change.text is not None and not (change.style or change.attributes):
        return _replace_text(texts, change)
    located = located or require(trees, change.element)
    tag = located.source[located.element.start : located.element.open_end]
    if located.element.syntax == "braces" and "{" in tag and (change.style or change.attributes):
        raise CannotEdit("An expression sets attributes of this element; describe the change in words instead.")
    replacements: list[TextReplacement] = []
    if change.text is not None:
        edited = edit_text(located, change.text)
        replacements += edited if edited is not None else _replace_text(texts, change)
    if change.style:
        if sheets is None:
            replacements += edit_tailwind(located, change.style, scope)
        elif scope.below:
            replacements += sheets[1].add(located, change.style, change.rules)
        else:
            replacements += edit_style(located, sheets[0].add(change.style, change.rules))
    for name, value in change.attributes.items():
        replacements += set_attribute(located, name, value)
    return replacements


def _move(trees: SourceTrees, change: VisualChange, *, are_several: bool) -> list[TextReplacement]:
    if change.move is None:
        return []
    if change.text is not None or change.style or change.attributes:
        raise CannotEdit("Apply the other changes of this element before you move it.")
    target = require(trees, change.move.target)
    return move_element(require(trees, change.element), target, change.move.place, keeps_place=not are_several)


def check_style(style: Mapping[str, str]) -> None:
    """Raise CannotEdit if a name or value is not one of CSS."""
    for name, value in style.items():
        if not _PROPERTY.fullmatch(name) or re.search(r"[;{}<>\"]", value):
            raise CannotEdit("That is not a value of a style; write it as in CSS, without a semicolon.")


def _replace_text(texts: Mapping[str, str], change: VisualChange) -> list[TextReplacement]:
    """Replace a text that occurs once in the project, such as one in the data of a script."""
    before, after = change.before.strip(), (change.text or "").strip()
    files = [file for file, text in texts.items() if file.endswith(_SCRIPTS) and before and before in text]
    if len(files) != 1 or texts[files[0]].count(before) != 1:
        raise CannotEdit("This text is not in the source, or in several places; describe the change in words.")
    text = texts[files[0]]
    start = text.index(before)
    end = start + len(before)
    quote = text[start - 1 : start]
    if quote in ("'", '"', "`") and text[end : end + 1] == quote:
        after = after.replace("\\", "\\\\").replace(quote, f"\\{quote}").replace("\n", "\\n")
        after = after.replace("${", "\\${") if quote == "`" else after
    elif re.search(r"[\"'`<>{}\\\n]", after):
        raise CannotEdit("This text is part of a script, which quotes and brackets would break; use plain words.")
    return [TextReplacement(files[0], start, end, after)]
