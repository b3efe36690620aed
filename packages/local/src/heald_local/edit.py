"""Makes small changes in the source of a page: finds the element that an instruction names, and edits it."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape, unescape
from itertools import pairwise

from heald.core.errors import HealdError
from heald.core.markup import VOID_ELEMENTS, EndTag, StartTag, TextToken, scan_html
from heald.providers.scripted import Part, ScriptedCall
from heald_local.builder import first_line
from heald_local.commands import (
    DuplicateElement,
    Edit,
    EditTarget,
    MakeSticky,
    MoveElement,
    RemoveElement,
    SetColour,
    SetLanguage,
    SetProperty,
    SetText,
    parse_edits,
    parse_unquoted,
)
from heald_local.files import edits_between
from heald_local.jsx_markup import scan_jsx
from heald_local.request import LocalRequest
from heald_local.write.jsx import jsx_text
from heald_pictures.design_request import SelectedElement
from heald_pictures.errors import VisionError

_STRING = re.compile(r"\{(\"(?:[^\"\\]|\\.)*\")\}")
_PAIR = re.compile(r"(\w+)\s*:\s*(\"[^\"]*\"|'[^']*'|[^,\"']+)")
_JSX_NAMES = {"classname": "class", "htmlfor": "for"}
_IGNORED = ("style", "data-heald-source")
_READ = re.compile(r"=== (?P<path>.+?) \(lines 1-(?P<last>\d+) of (?P<total>\d+)\) ===\n(?P<body>.*)", re.DOTALL)
_TEXTUAL = frozenset(
    (
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "span",
        "a",
        "li",
        "label",
        "td",
        "th",
        "small",
        "b",
        "strong",
        "em",
        "text",
    )
)
_FRAMES = frozenset(("html", "head", "title", "style", "script", "body", "main"))
_WHOLE = frozenset(("button", "a", "li", "label", "td", "th", "option"))
_INHERITED = ("color", "font-size", "font-weight", "font-style")
_MODULES = (".jsx", ".tsx")
_TEMPLATES = (".svelte", ".astro")
_MOST_TEXTS = 20
_STICKY = (("position", "sticky"), ("top", "0"), ("z-index", "10"))
_LONGEST = 400_000


@dataclass(frozen=True, slots=True)
class SourceElement:
    """An element and its position: its start tag, its content, and its end."""

    name: str
    attributes: dict[str, str]
    start: int
    inside: int
    inside_end: int
    end: int
    jsx: bool
    words: range  # the numbers of its words in the page

    def holds(self, other: "SourceElement") -> bool:
        return other is not self and self.start <= other.start and other.end <= self.end

    def is_like(self, other: "SourceElement") -> bool:
        """Whether both have the same start tag, as far as the browser's view of it shows."""
        return self.name.lower() == other.name.lower() and self._visible() == other._visible()

    def _visible(self) -> dict[str, str]:
        values = {name: " ".join(value.split()) for name, value in self.attributes.items() if name not in _IGNORED}
        return {name: value for name, value in values.items() if not value.startswith("{")}


class PageSource:
    """The source of a page, in HTML or with JSX in a script, read once in linear time. A module is JSX alone."""

    def __init__(self, source: str, *, is_module: bool = False) -> None:
        self.source = source
        self.elements: list[SourceElement] = []
        """In order of their start tags. An element that is never closed ends where its parent does."""
        self._words: list[str] = []
        self._open: list[tuple[StartTag, bool, int, int]] = []  # tag, jsx, first word, place among the elements
        self._names: Counter[str] = Counter()
        if is_module:
            self._scan_jsx(0, len(source))
        else:
            self._scan()
        self._close(0, len(source), len(source))

    def text_of(self, element: SourceElement) -> str:
        return " ".join(self._words[element.words.start : element.words.stop])

    def with_text(self, words: Sequence[str]) -> list[SourceElement]:
        """Find the elements with exactly these words; case is ignored."""
        count, lowered = len(words), [word.lower() for word in words]
        return [
            element
            for element in self.elements
            if len(element.words) == count and [self._words[at].lower() for at in element.words] == lowered
        ]

    def within(self, outer: SourceElement) -> Iterator[SourceElement]:
        return (element for element in self.elements if outer.start < element.start and element.end <= outer.inside_end)

    def _scan(self) -> None:
        text = ""
        scripted = False
        for token in scan_html(self.source):
            if isinstance(token, TextToken):
                text += "" if scripted else token.text
                continue
            self._words += text.split()
            text, scripted = "", False
            self._add_tag(token, jsx=False)
            if isinstance(token, StartTag) and token.content and "text/babel" in (token.attributes.get("type") or ""):
                scripted = True
                self._scan_jsx(*token.content)
        self._words += text.split()

    def _scan_jsx(self, start: int, end: int) -> None:
        for token in scan_jsx(self.source, start, end):
            self._add_jsx_words(start, token.start)
            self._add_tag(token, jsx=True)
            start = token.end
        self._add_jsx_words(start, end)

    def _add_jsx_words(self, start: int, end: int) -> None:
        self._words += unescape(_STRING.sub(_unquote, self.source[start:end])).split()

    def _add_tag(self, token: StartTag | EndTag, *, jsx: bool) -> None:
        if isinstance(token, EndTag):
            if self._names[token.name]:
                opened = range(len(self._open) - 1, -1, -1)
                self._close(next(at for at in opened if self._open[at][0].name == token.name), token.start, token.end)
            return
        self._open.append((token, jsx, len(self._words), len(self.elements)))
        self._names[token.name] += 1
        self.elements.append(SourceElement(token.name, {}, token.start, token.end, token.end, token.end, jsx, range(0)))
        if token.self_closing or token.name in VOID_ELEMENTS:
            self._close(len(self._open) - 1, token.end, token.end)

    def _close(self, upto: int, inside_end: int, end: int) -> None:
        """Close all open elements from a number on; only the outermost includes the end tag."""
        while len(self._open) > upto:
            tag, jsx, first, place = self._open.pop()
            self._names[tag.name] -= 1
            words = range(first, len(self._words))
            last = end if len(self._open) == upto else inside_end
            attributes = {_JSX_NAMES.get(name, name): value or "" for name, value in tag.attributes.items()}
            self.elements[place] = SourceElement(tag.name, attributes, tag.start, tag.end, inside_end, last, jsx, words)


def _innermost(elements: Sequence[SourceElement]) -> list[SourceElement]:
    """Return the elements that hold none of the others, in order of their start tags."""
    holding = {outer.start for outer, inner in pairwise(elements) if outer.holds(inner)}
    return [element for element in elements if element.start not in holding]


def set_style(source: str, element: SourceElement, name: str, value: str) -> str:
    """Add a declaration to the style of an element."""
    tag = source[element.start : element.inside]
    if element.jsx:
        return source[: element.start] + _jsx_style(tag, name, value) + source[element.inside :]
    declaration = f"{name}: {value}"
    styled = re.search(r"(\sstyle\s*=\s*)([\"'])(.*?)\2", tag, re.DOTALL)
    if styled is None:
        at = len(tag) - (2 if tag.endswith("/>") else 1)
        new = f'{tag[:at].rstrip()} style="{escape(declaration)}"{" /" if tag.endswith("/>") else ""}>'
    else:
        others = [
            part.strip() for part in styled[3].split(";") if part.strip() and part.partition(":")[0].strip() != name
        ]
        inside = "; ".join([*others, escape(declaration)])
        new = f"{tag[: styled.start()]}{styled[1]}{styled[2]}{inside}{styled[2]}{tag[styled.end() :]}"
    return source[: element.start] + new + source[element.inside :]


def set_text(source: str, element: SourceElement, text: str) -> str:
    """Replace the content of an element by a text."""
    words = jsx_text(text) if element.jsx else escape(text, quote=False)
    return source[: element.inside] + words + source[element.inside_end :]


def remove_element(source: str, element: SourceElement) -> str:
    """Remove an element, with the line that it has for itself."""
    start, end = _line_span(source, element)
    return source[:start] + source[end:]


def duplicate_element(source: str, element: SourceElement) -> str:
    """Repeat an element. Its id stays with the first."""
    start, end = _line_span(source, element)
    piece = source[start:end]
    copy = re.sub(r"(\s)id\s*=\s*(?:\"[^\"]*\"|'[^']*')", "", piece, count=1) if "id" in element.attributes else piece
    return source[:end] + copy + source[end:]


def move_element(page: PageSource, element: SourceElement, *, is_first: bool) -> str:
    """Move an element to the beginning or the end of the one that holds it."""
    outer = [candidate for candidate in page.elements if candidate.holds(element)]
    if not outer:
        return page.source
    parent = min(outer, key=lambda candidate: candidate.end - candidate.start)
    children = [inner for inner in page.within(parent) if not any(other.holds(inner) for other in page.within(parent))]
    edge = children[0] if is_first else children[-1]
    if edge is element:
        return page.source
    start, end = _line_span(page.source, element)
    piece = page.source[start:end]
    at = _line_span(page.source, edge)[0 if is_first else 1]
    if is_first:
        return page.source[:at] + piece + page.source[at:start] + page.source[end:]
    return page.source[:start] + page.source[end:at] + piece + page.source[at:]


def _set_attribute(source: str, element: SourceElement, name: str, value: str) -> str:
    """Set an attribute of an element."""
    tag = source[element.start : element.inside]
    pattern = re.compile(rf"(\s){name}\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s>]+)", re.IGNORECASE)
    new, count = pattern.subn(rf'\g<1>{name}="{escape(value)}"', tag, count=1)
    if not count:
        new = f'{tag[:-1]} {name}="{escape(value)}">'
    return source[: element.start] + new + source[element.inside :]


def _line_span(source: str, element: SourceElement) -> tuple[int, int]:
    """Return the span of an element, or that of its lines if nothing else is on them."""
    start = source.rfind("\n", 0, element.start) + 1
    stop = source.find("\n", element.end)
    stop = len(source) if stop < 0 else stop + 1
    alone = not source[start : element.start].strip() and not source[element.end : stop].strip()
    return (start, stop) if alone else (element.start, element.end)


def _jsx_style(tag: str, name: str, value: str) -> str:
    key = re.sub(r"-([a-z])", lambda letter: letter[1].upper(), name)
    entry = f'{key}: "{value}"'
    styled = re.search(r"\sstyle=\{\{(.*?)\}\}", tag, re.DOTALL)
    if styled is not None:
        others = [pair[0] for pair in _PAIR.finditer(styled[1].strip()) if pair[1] != key]
        return f"{tag[: styled.start()]} style={{{{ {', '.join([*others, entry])} }}}}{tag[styled.end() :]}"
    end = " />" if tag.endswith("/>") else ">"
    return f"{tag.removesuffix('>').removesuffix('/').rstrip()} style={{{{ {entry} }}}}{end}"


def _unquote(literal: re.Match[str]) -> str:
    try:
        return escape(str(json.loads(literal[1])))
    except ValueError:
        return literal[1]


class _Unclear(HealdError):
    """The instruction names no element, or several."""


def edit_page(request: LocalRequest) -> list[Part] | None:
    """Return the next step of a change; None if the instruction is not understood as one.

    Raises VisionError if the change cannot be made.
    """
    edits = parse_edits(request.instruction) or _find_unquoted(request)
    if not edits:
        return None
    if not request.has("edit_file"):
        raise VisionError("There is no tool to edit files here; give the session edit_file (such as --tools files).")
    edited = request.calls_of("edit_file")
    if edited:
        result = edited[-1]
        if not result.ok:
            raise VisionError(f"The change was not made: {first_line(result.result.text)}")
        return [f"Done in {result.call.input.get('path')}: {'; '.join(_describe(edit) for edit in edits)}."]
    return _next_step(request, edits)


def _find_unquoted(request: LocalRequest) -> list[Edit]:
    """Return the change of a text that the instruction names without quotes, if exactly one element has it."""
    edit = parse_unquoted(request.instruction)
    if edit is None:
        return []
    path, source = _find_source(request, [edit])
    if source is None or len(source) > _LONGEST:
        return []
    try:
        _find_target(_read_source(path, source), edit.target, None)
    except _Unclear:
        return []
    return [edit]


def _next_step(request: LocalRequest, requested: list[Edit]) -> list[Part]:
    path, source = _find_source(request, requested)
    if source is None:
        read = request.calls_of("read_file")
        if read or not request.has("read_file"):
            why = first_line(read[-1].result.text) if read and not read[-1].ok else "it is too long to be read whole"
            raise VisionError(f"{path} cannot be changed here: {why}")
        return [ScriptedCall("read_file", {"path": path})]
    if len(source) > _LONGEST:
        raise VisionError(f"{path} cannot be changed here: it has more than {_LONGEST:,} characters.")
    text = source
    try:
        for edit in requested:
            text = apply_edit(path, text, edit, request.element)
    except _Unclear as unclear:
        raise VisionError(str(unclear)) from None
    edits = edits_between(source, text)
    if not edits:
        return [f"{path} is so already; nothing was changed."]
    return [ScriptedCall("edit_file", {"path": path, "edits": edits})]


def _find_source(request: LocalRequest, edits: Sequence[Edit]) -> tuple[str, str | None]:
    path = request.element.file if request.element is not None else ""
    files = request.files
    candidates = [name for name in files if name == path] or _find_modules(files, edits)
    candidates = candidates or [name for name in files if name == request.entry]
    candidates = candidates or [name for name in files if name.endswith((".html", ".svg"))]
    if candidates:
        return candidates[0], files[candidates[0]]
    path = path or (request.written[-1] if request.written else request.entry)
    for finished in reversed(request.calls_of("read_file")):
        page = _READ.match(finished.result.text)
        if finished.ok and page is not None and page["last"] == page["total"] and not finished.result.truncated:
            return path, f"{page['body']}\n"
    return path, None


def _find_modules(files: dict[str, str], edits: Sequence[Edit]) -> list[str]:
    """Find the components of a project of several files that have the first element which the edits name."""
    target = next((edit.target for edit in edits if edit.target.tag or edit.target.text), None)
    if target is None:
        return []
    modules: list[str] = []
    for path, source in files.items():
        if not path.endswith((*_MODULES, *_TEMPLATES)) or len(source) > _LONGEST:
            continue
        with suppress(_Unclear):
            _find_target(_read_source(path, source), target, None)
            modules.append(path)
    return modules if target.tag or len(modules) == 1 else []


def _read_source(path: str, source: str) -> PageSource:
    return PageSource(source, is_module=path.endswith(_MODULES))


def apply_edit(path: str, source: str, edit: Edit, selected: SelectedElement | None) -> str:
    """Return the source after an edit."""
    page = _read_source(path, source)
    element = _find_target(page, edit.target, selected)
    match edit:
        case SetText(text=text):
            return set_text(source, _innermost_with_text(page, element), text)
        case SetColour(colour=colour):
            name = _coloured_property(element, edit)
            return _set_property(page, element, name, f"1px solid {colour}" if name == "border" else colour)
        case SetProperty(name=name, value=value):
            return _set_property(page, element, name, value)
        case RemoveElement() if path.endswith(_MODULES) and not any(outer.holds(element) for outer in page.elements):
            return f"{source[: element.start]}null{source[element.end :]}"  # a component must return something
        case RemoveElement():
            return remove_element(source, element)
        case DuplicateElement():
            return duplicate_element(source, element)
        case MakeSticky():
            for name, value in _STICKY:
                element = _find_target(_read_source(path, source), edit.target, selected)
                source = set_style(source, element, name, value)
            return source
        case MoveElement(is_first=is_first):
            return move_element(page, element, is_first=is_first)
        case SetLanguage(code=code):
            return _set_attribute(source, element, "lang", code)


def _find_target(page: PageSource, target: EditTarget, selected: SelectedElement | None) -> SourceElement:
    if target.tag:
        element = next((candidate for candidate in page.elements if candidate.name == target.tag), None)
        if element is None:
            raise _Unclear(f"There is no <{target.tag}> in the page; choose the element in the preview.")
        return element
    if target.text:
        return _find_by_text(page, target.text)
    if selected is None:
        raise _Unclear("The request does not name an element; choose one in the preview, or give its text in quotes.")
    return _find_selected(page, selected)


def _find_by_text(page: PageSource, text: str) -> SourceElement:
    """Find the innermost element with exactly this text, or the button, link or item without other text."""
    same = [element for element in page.with_text(text.split()) if element.name not in _FRAMES]
    innermost = _innermost(same)
    if not innermost:
        raise _Unclear(f"“{text}” is not the whole text of any element; choose the element in the preview.")
    if len(innermost) > 1:
        raise _Unclear(f"“{text}” is there {len(innermost)} times; choose the one that is meant in the preview.")
    return next((element for element in same if element.name in _WHOLE and element.holds(innermost[0])), innermost[0])


def _find_selected(page: PageSource, selected: SelectedElement) -> SourceElement:
    snippet = PageSource(selected.html)
    if not snippet.elements:
        raise _Unclear("The chosen element could not be read; choose it again in the preview.")
    target = snippet.elements[0]
    words = snippet.text_of(target)
    matches = [element for element in page.elements if element.is_like(target)]
    matches = [
        element for element in matches if len(element.words) == len(target.words) and page.text_of(element) == words
    ] or matches
    lines = [0, *(newline.end() for newline in re.finditer("\n", page.source)), len(page.source) + 1]
    if 0 < selected.line < len(lines):
        start, end = lines[selected.line - 1 : selected.line + 1]
        on_line = next((element for element in matches if start <= element.start < end), None)
        if on_line is not None:
            return on_line
    if len(matches) > 1 and 0 < selected.number <= len(matches):
        return matches[selected.number - 1]
    if len(matches) == 1:
        return matches[0]
    raise _Unclear("The chosen element could not be found in the page's source; name its text in quotes instead.")


def _innermost_with_text(page: PageSource, element: SourceElement) -> SourceElement:
    inside = [inner for inner in page.within(element) if element.words and inner.words == element.words]
    return inside[-1] if inside else element


def _coloured_property(element: SourceElement, edit: SetColour) -> str:
    if edit.side == "border":
        return "border"
    text = edit.side == "text" or (not edit.side and element.name in _TEXTUAL)
    return "color" if text else "background"


def _set_property(page: PageSource, element: SourceElement, name: str, value: str) -> str:
    """Add the declaration; an inherited property goes to each text inside as well, which has a style of its own."""
    inside = [inner for inner in page.within(element) if inner.name in _TEXTUAL] if name in _INHERITED else []
    leaves = _innermost(inside)[:_MOST_TEXTS]
    relative = value.endswith(("em", "%")) and not value.endswith("rem")
    source = page.source
    for inner in reversed(leaves if leaves and relative else [element, *leaves]):
        source = set_style(source, inner, name, value)
    return source


def _describe(edit: Edit) -> str:
    target = edit.target
    what = f"“{target.text}”" if target.text else f"<{target.tag}>" if target.tag else "the chosen element"
    match edit:
        case SetText(text=text):
            return f"{what} now says “{text}”"
        case SetColour(colour=colour, side=side):
            return f"{what} has the {f'{side} ' if side else ''}colour {colour}"
        case SetProperty(name=name, value=value):
            return f"{what} has {name} {value}"
        case RemoveElement():
            return f"{what} was removed"
        case DuplicateElement():
            return f"{what} is there twice"
        case MakeSticky():
            return f"{what} stays at the top"
        case MoveElement(is_first=is_first):
            return f"{what} is the {'first' if is_first else 'last'} element of what it is in"
        case SetLanguage(code=code):
            return f"the language of the page is {code}"
