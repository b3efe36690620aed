"""Edits the class attribute of an element: a string, or the strings inside an expression of JSX."""

from collections.abc import Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald_studio.visual.breakpoint import Breakpoint
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.class_list import apply_changes, change_classes
from heald_studio.visual.locate import Located
from heald_studio.visual.text_replacement import TextReplacement

_STRING = lazy_pattern(r""""(?P<double>[^"\\\n]*)"|'(?P<single>[^'\\\n]*)'""")
_TEMPLATE = lazy_pattern(r"`(?P<body>[^`\\]*)`")
_HOLE = lazy_pattern(r"\$\{[^{}]*\}")


class _ClassText(msgspec.Struct, frozen=True):
    """A piece of a source that holds classes."""

    start: int
    text: str
    is_conditional: bool = False


def edit_tailwind(located: Located, style: Mapping[str, str], scope: Breakpoint) -> list[TextReplacement]:
    """Return the replacements that give an element a style by Tailwind's classes."""
    element = located.element
    name = "className" if element.syntax == "jsx" else "class"
    attribute = element.attributes.get(name)
    if attribute is None or attribute.value_start < 0:
        classes = apply_changes("", change_classes("", style, scope))
        return add_class(located, classes) if classes else []
    pieces = _class_texts(located, attribute.value_start, attribute.value_end, is_code=attribute.is_expression)
    if not pieces:
        raise CannotEdit("An expression sets the classes of this element; describe the change in words.")
    # All pieces are one list to the browser: a class is replaced in the piece that has it.
    whole = " ".join(piece.text for piece in pieces)
    changes = change_classes(whole, style, scope)
    replacements: list[TextReplacement] = []
    offset = 0
    target = next((piece for piece in pieces if not piece.is_conditional), pieces[0])
    for piece in pieces:
        local = [
            msgspec.structs.replace(change, start=change.start - offset, end=change.end - offset)
            for change in changes
            if change.old and offset <= change.start < offset + len(piece.text)
        ]
        if piece is target:
            local += [change for change in changes if not change.old]
        written = apply_changes(piece.text, local)
        if written != piece.text:
            replacements.append(TextReplacement(located.file, piece.start, piece.start + len(piece.text), written))
        offset += len(piece.text) + 1
    return replacements


def add_class(located: Located, classes: str) -> list[TextReplacement]:
    """Return the replacements that add classes to an element."""
    element = located.element
    name = "className" if element.syntax == "jsx" else "class"
    attribute = element.attributes.get(name)
    if attribute is None:
        return [TextReplacement(located.file, element.name_end, element.name_end, f' {name}="{classes}"')]
    pieces = _class_texts(located, attribute.value_start, attribute.value_end, is_code=attribute.is_expression)
    target = next((piece for piece in pieces if not piece.is_conditional), None)
    if attribute.value_start < 0 or not attribute.quote:
        written = " ".join(filter(None, [located.source[attribute.value_start : attribute.value_end], classes]))
        return [TextReplacement(located.file, attribute.start, attribute.end, f'{name}="{written}"')]
    if target is None:
        raise CannotEdit("An expression sets the classes of this element; describe the change in words.")
    at = target.start + len(target.text.rstrip())
    joint = " " if target.text.strip() else ""
    return [TextReplacement(located.file, at, at, f"{joint}{classes}")]


def class_names(located: Located) -> list[str]:
    """Return the classes that an element always has."""
    name = "className" if located.element.syntax == "jsx" else "class"
    attribute = located.element.attributes.get(name)
    if attribute is None or attribute.value_start < 0:
        return []
    pieces = _class_texts(located, attribute.value_start, attribute.value_end, is_code=attribute.is_expression)
    return [word for piece in pieces if not piece.is_conditional for word in piece.text.split()]


def _class_texts(located: Located, start: int, end: int, *, is_code: bool) -> list[_ClassText]:
    """Return the texts that hold classes: the value itself, or the strings of an expression."""
    source = located.source
    if not is_code:
        return [_ClassText(start, source[start:end])]
    code = source[start:end]
    template = _TEMPLATE.fullmatch(code.strip())
    if template is not None:
        offset = start + len(code) - len(code.lstrip()) + 1
        return _template_texts(template["body"], offset)
    texts: list[_ClassText] = []
    for string in _STRING.finditer(code):
        before, after = code[: string.start()].rstrip(), code[string.end() :].lstrip()
        if before.endswith(("===", "!==", "==", "!=", "[")) or after.startswith(("===", "!==", "==", "!=")):
            continue  # compared with, not a class
        is_conditional = before.endswith(("&&", "||", "?", ":", "??")) or after.startswith(":")
        group = "double" if string["double"] is not None else "single"
        texts.append(_ClassText(start + string.start(group), string[group], is_conditional))
    return texts


def _template_texts(body: str, offset: int) -> list[_ClassText]:
    texts: list[_ClassText] = []
    at = 0
    for hole in _HOLE.finditer(body):
        texts.append(_ClassText(offset + at, body[at : hole.start()]))
        at = hole.end()
    texts.append(_ClassText(offset + at, body[at:]))
    return [text for text in texts if text.text.strip()] or texts[:1]
