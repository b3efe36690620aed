"""A change of a page that is there: read it, find what is meant, edit it, say so. Or say why not."""

import re

from weft.core.errors import WeftError
from weft.providers.local.asked import Asked, Chosen
from weft.providers.local.edits import edits_between
from weft.providers.local.source import (
    Element,
    doubled,
    elements,
    inner,
    like,
    plain,
    with_style,
    with_text,
    without,
)
from weft.providers.local.telling import first_line
from weft.providers.local.wishes import Duplicate, Paint, Remove, Style, Target, Wish, Write, wishes
from weft.providers.scripted import Call, Part

_READ = re.compile(r"=== (?P<path>.+?) \(lines 1-(?P<last>\d+) of (?P<total>\d+)\) ===\n(?P<body>.*)", re.DOTALL)
_TEXTUAL = frozenset(
    ("h1", "h2", "h3", "h4", "h5", "h6", "p", "span", "a", "li", "label", "td", "th", "small", "strong", "em", "text")
)
_FRAMES = frozenset(("html", "head", "title", "style", "script", "body", "main"))
_WHOLE = frozenset(("button", "a", "li", "label", "td", "th", "option"))
_INHERITED = ("color", "font-size", "font-weight", "font-style")
_MOST_TEXTS = 20
_LONGEST = 400_000


class _Unclear(WeftError):
    """It cannot be told what is meant."""


def change(asked: Asked) -> list[Part] | None:
    """The next step of a change; None if the words ask for none that is understood."""
    wanted = wishes(asked.words)
    if not wanted:
        return None
    if not asked.has("edit_file"):
        return ["There is no tool to edit files here; give the session edit_file (such as --tools files)."]
    edited = asked.made("edit_file")
    if edited:
        result = edited[-1]
        if not result.ok:
            return [f"The change was not made: {first_line(result.result.text)}"]
        return [f"Done in {result.call.input.get('path')}: {'; '.join(_told(wish) for wish in wanted)}."]
    return _step(asked, wanted)


def _step(asked: Asked, wanted: list[Wish]) -> list[Part]:
    path, source = _source(asked)
    if source is None:
        read = asked.made("read_file")
        if read or not asked.has("read_file"):
            why = first_line(read[-1].result.text) if read and not read[-1].ok else "it is too long to be read whole"
            return [f"{path} cannot be changed here: {why}"]
        return [Call("read_file", {"path": path})]
    if len(source) > _LONGEST:
        return [f"{path} cannot be changed here: it has more than {_LONGEST:,} characters."]
    text = source
    try:
        for wish in wanted:
            text = _applied(text, wish, asked.chosen)
    except _Unclear as unclear:
        return [str(unclear)]
    edits = edits_between(source, text)
    if not edits:
        return [f"{path} is so already; nothing was changed."]
    return [Call("edit_file", {"path": path, "edits": edits})]


def _source(asked: Asked) -> tuple[str, str | None]:
    """The file to change, and its text as far as it is known."""
    path = asked.chosen.file if asked.chosen is not None else ""
    shown = [name for name in asked.files if name == path] or [name for name in asked.files if name == asked.entry]
    shown = shown or [name for name in asked.files if name.endswith((".html", ".svg"))]
    if shown:
        return shown[0], asked.files[shown[0]]
    path = path or (asked.written[-1] if asked.written else asked.entry)
    for each in reversed(asked.made("read_file")):
        found = _READ.match(each.result.text)
        if each.ok and found is not None and found["last"] == found["total"] and not each.result.truncated:
            return path, f"{found['body']}\n"
    return path, None


def _applied(source: str, wish: Wish, chosen: Chosen | None) -> str:
    element = _meant(source, wish.target, chosen)
    match wish:
        case Write(text=text):
            return with_text(source, _worded(source, element), text)
        case Paint(colour=colour):
            name = _painted(element, wish)
            value = f"1px solid {colour}" if name == "border" else colour
            return _styled(source, element, name, value)
        case Style(name=name, value=value):
            return _styled(source, element, name, value)
        case Remove():
            return without(source, element)
        case Duplicate():
            return doubled(source, element)


def _meant(source: str, target: Target, chosen: Chosen | None) -> Element:
    """The one element that is meant."""
    every = elements(source)
    if target.tag:
        found = [each for each in every if each.name == target.tag]
        if not found:
            raise _Unclear(f"There is no <{target.tag}> in the page; choose the element in the preview.")
        return found[0]
    if target.text:
        return _saying(source, every, target.text)
    if chosen is None:
        raise _Unclear("It is not said which element is meant; choose it in the preview, or give its text in quotes.")
    return _chosen(source, every, chosen)


def _saying(source: str, every: list[Element], words: str) -> Element:
    """The element with exactly these words: the innermost, or the button, link or item that it is all of."""
    wanted = " ".join(words.lower().split())
    same = [each for each in every if each.name not in _FRAMES and each.text(source).lower() == wanted]
    found = [each for each in same if not any(_holds(each, other) for other in same)]
    if not found:
        raise _Unclear(f"“{words}” is not the whole text of any element; choose the element in the preview.")
    if len(found) > 1:
        raise _Unclear(f"“{words}” is there {len(found)} times; choose the one that is meant in the preview.")
    around = [each for each in same if each.name in _WHOLE and _holds(each, found[0])]
    return around[0] if around else found[0]


def _chosen(source: str, every: list[Element], chosen: Chosen) -> Element:
    wanted = next(iter(elements(chosen.html)), None)
    if wanted is None:
        raise _Unclear("The chosen element could not be read; choose it again in the preview.")
    words = plain(chosen.html)
    found = [each for each in every if like(each, wanted)]
    exact = [each for each in found if each.text(source) == words]
    found = exact or found
    by_line = [each for each in found if source.count("\n", 0, each.start) + 1 == chosen.line]
    if by_line:
        return by_line[0]
    if len(found) > 1 and 0 < chosen.number <= len(found):
        return found[chosen.number - 1]
    if len(found) == 1:
        return found[0]
    raise _Unclear("The chosen element could not be found in the page's source; name its text in quotes instead.")


def _worded(source: str, element: Element) -> Element:
    """Where the words stand: the innermost element that has all of them."""
    words = element.text(source)
    inside = [each for each in inner(source, element) if each.text(source) == words and words]
    return inside[-1] if inside else element


def _holds(outer: Element, other: Element) -> bool:
    return outer is not other and outer.start <= other.start and other.end <= outer.end


def _painted(element: Element, wish: Paint) -> str:
    if wish.side == "border":
        return "border"
    text = wish.side == "text" or (not wish.side and element.name in _TEXTUAL)
    return "color" if text else "background"


def _styled(source: str, element: Element, name: str, value: str) -> str:
    """With the declaration; what is inherited goes to each text within as well, which has a style of its own."""
    inside = [each for each in inner(source, element) if each.name in _TEXTUAL] if name in _INHERITED else []
    leaves = [each.start for each in inside if not any(_holds(each, other) for other in inside)][:_MOST_TEXTS]
    relative = value.endswith(("em", "%")) and not value.endswith("rem")
    places = leaves if leaves and relative else [element.start, *leaves]
    for start in reversed(places):
        here = next(each for each in elements(source) if each.start == start)
        source = with_style(source, here, name, value)
    return source


def _told(wish: Wish) -> str:
    target = wish.target
    what = f"“{target.text}”" if target.text else f"<{target.tag}>" if target.tag else "the chosen element"
    match wish:
        case Write(text=text):
            return f"{what} now says “{text}”"
        case Paint(colour=colour, side=side):
            return f"{what} has the {f'{side} ' if side else ''}colour {colour}"
        case Style(name=name, value=value):
            return f"{what} has {name} {value}"
        case Remove():
            return f"{what} was removed"
        case Duplicate():
            return f"{what} is there twice"
