"""Finds the rules of a project's own style sheets, and edits the declarations of one."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from heald.core.lazy import lazy_pattern
from heald.core.markup import start_tags

_TOKEN = lazy_pattern(r"/\*.*?(?:\*/|$)|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[{};]", re.DOTALL)
_COMMENT = lazy_pattern(r"/\*.*?(?:\*/|$)", re.DOTALL)
_DECLARATION = lazy_pattern(
    r"(?<![\w-])(?P<name>[a-zA-Z-]+)\s*:\s*"
    r"(?P<value>(?:[^;\"'(]|\"[^\"]*\"|'[^']*'|\((?:[^()]|\([^()]*\))*\))*)(?P<end>;?)"
)
_PAGES = (".html", ".htm")


class SheetRule(msgspec.Struct, frozen=True):
    """A rule of a style sheet outside of any block, and from where to where its declarations stand in a file."""

    file: str
    selector: str
    """In one line, and without comments."""
    start: int
    end: int


def plain_selector(selector: str) -> str:
    """Return a selector in one way of writing: without spaces that mean nothing."""
    return re.sub(r"\s*([,>+~])\s*", r"\1", _one_line(selector).replace("'", '"'))


def _one_line(selector: str) -> str:
    return re.sub(r"\s+", " ", _COMMENT.sub(" ", selector)).strip()


class CssBlock(msgspec.Struct, frozen=True):
    """A rule or another block of CSS that is in no other one, and from where to where its content stands."""

    selector: str
    """In one line, and without comments; what stands before the brace."""
    outer_start: int
    start: int
    end: int
    is_rule: bool
    """Whether it has declarations, and no blocks."""


def sheet_rules(texts: Mapping[str, str], page: str) -> Iterator[SheetRule]:
    """Yield the rules of a page's style elements, and of the style sheets of a project that has no other page."""
    for file, start, end in sheet_spans(texts, page):
        for block in css_blocks(texts[file], start, end):
            if block.is_rule:
                yield SheetRule(file, block.selector, block.start, block.end)


def sheet_spans(texts: Mapping[str, str], page: str) -> Iterator[tuple[str, int, int]]:
    """Yield the style sheets: each file, and from where to where the sheet stands in it."""
    for tag in start_tags(texts.get(page, "")):
        if tag.name == "style" and tag.content is not None and tag.attributes.get("type") in (None, "", "text/css"):
            yield (page, *tag.content)
    if sum(file.endswith(_PAGES) for file in texts) > 1:
        return  # a rule for one element of this page may be one for many of another
    for file, text in texts.items():
        if file.endswith(".css") and not file.endswith(".module.css"):
            yield file, 0, len(text)


def css_blocks(text: str, start: int, end: int) -> Iterator[CssBlock]:
    """Yield the rules and other blocks of CSS, in order."""
    depth, selector_start, body_start = 0, start, start
    for token in _TOKEN.finditer(text, start, end):
        if token[0] == "{":
            depth += 1
            body_start = token.end() if depth == 1 else body_start
        elif token[0] == "}":
            depth -= 1
            if depth == 0:
                selector = _one_line(text[selector_start : body_start - 1])
                is_rule = not selector.startswith("@") and "{" not in text[body_start : token.start()]
                yield CssBlock(selector, selector_start, body_start, token.start(), is_rule)
                selector_start = token.end()
        elif token[0] == ";" and depth == 0:
            selector_start = token.end()


def declarations_of(body: str) -> dict[str, str]:
    """Return the declarations of a rule: the last value of each property."""
    declarations = _DECLARATION.finditer(_without_comments(body))
    return {declaration["name"].lower(): declaration["value"].strip() for declaration in declarations}


def is_declared(body: str, name: str) -> bool:
    """Whether the declarations of a rule set a property, or a shorthand of it."""
    names = declarations_of(body)
    return name in names or any(name.startswith(f"{shorthand}-") for shorthand in names)


def edit_declarations(body: str, style: Mapping[str, str]) -> str:
    """Return the declarations of a rule with some changed in place, some removed, and new ones behind the last."""
    for name, value in style.items():
        body = _set_declaration(body, name, value)
    return body


def _set_declaration(body: str, name: str, value: str) -> str:
    declarations = list(_DECLARATION.finditer(_without_comments(body)))
    declared = [declaration for declaration in declarations if declaration["name"].lower() == name]
    # A shorthand that follows would undo the change.
    is_covered = declared and any(
        name.startswith(f"{later['name'].lower()}-") and later.start() > declared[-1].start() for later in declarations
    )
    if declared and value and not is_covered:
        start = declared[-1].start("value")
        return body[:start] + value + body[start + len(declared[-1]["value"].rstrip()) :]
    for declaration in reversed(declared):
        body = _removed(body, declaration.start(), declaration.end())
    return _added(body, f"{name}: {value};") if value else body


def _without_comments(body: str) -> str:
    """Return a text of the same length without what comments hold."""
    return _COMMENT.sub(lambda comment: " " * len(comment[0]), body)


def _removed(body: str, start: int, end: int) -> str:
    """Return a text without a declaration, and without the line that it leaves empty."""
    line_start = len(body[:start].rstrip(" \t"))
    if body[:line_start].endswith("\n") and re.match(r"[ \t]*\n", body[end:]):
        return body[: line_start - 1] + body[end:].lstrip(" \t")
    return body[:start] + body[end:].lstrip(" \t")


def _added(body: str, declaration: str) -> str:
    core = body.rstrip()
    tail = body[len(core) :]
    if not core.strip():
        return f" {declaration} " if "\n" not in body else f"{declaration}{body}"
    joint = "" if core.endswith((";", "*/")) else ";"
    line = re.search(r"\n([ \t]*)\S[^\n]*$", core)
    return f"{core}{joint}\n{line[1]}{declaration}{tail}" if line else f"{core}{joint} {declaration}{tail or ' '}"
