"""Parses HTML and Vue templates into a tree of elements with positions."""

from heald.core.lazy import lazy_pattern
from heald.core.markup import VOID_ELEMENTS, EndTag, StartTag, scan_html
from heald_studio.visual.markup_element import MarkupAttribute, MarkupElement, Syntax

_VALUE = lazy_pattern(r"""[^\s=]+\s*=\s*(?P<quote>["']?)""")
_IMPLIED_ENDS = {
    "li": ({"li"}, {"ul", "ol", "menu"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "option": ({"option"}, {"select", "datalist", "optgroup"}),
    "tr": ({"tr", "td", "th"}, {"table", "thead", "tbody", "tfoot"}),
    "td": ({"td", "th"}, {"tr", "table"}),
    "th": ({"td", "th"}, {"tr", "table"}),
}
"""Which open elements a start tag closes, and beyond which ones it closes nothing."""
_CLOSES_PARAGRAPH = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "div",
        "dl",
        "fieldset",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "ul",
    ]
)


def parse_html(source: str, start: int = 0, end: int | None = None, syntax: Syntax = "html") -> MarkupElement:
    """Return the root of a piece of markup, with the end tags that HTML implies."""
    piece = source[start:end]
    root = MarkupElement("", syntax, start, start, content_end=start + len(piece), end=start + len(piece), children=[])
    open_elements = [root]
    for token in scan_html(piece):
        match token:
            case StartTag():
                _close_implied(open_elements, token.name, start + token.start)
                parent = open_elements[-1]
                element = _element(source, token, start, syntax, parent)
                parent.children.append(element)
                if token.name in VOID_ELEMENTS or (token.self_closing and _may_close_itself(open_elements, element)):
                    continue
                open_elements.append(element)
            case EndTag(name=name):
                at = next((n for n in range(len(open_elements) - 1, 0, -1) if open_elements[n].name == name), 0)
                if at:
                    for left_open in open_elements[at + 1 :]:
                        _close(left_open, start + token.start)
                    open_elements[at].content_end = start + token.start
                    open_elements[at].end = start + token.end
                    del open_elements[at:]
            case _:
                pass
    for left_open in open_elements[1:]:
        _close(left_open, start + len(piece))
    return root


def _may_close_itself(open_elements: list[MarkupElement], element: MarkupElement) -> bool:
    """Whether `/>` ends the element: in templates of components and in drawings, but nowhere else in HTML."""
    return element.syntax in ("vue", "braces") or any(
        part.name in ("svg", "math") for part in (*open_elements, element)
    )


def _close(element: MarkupElement, position: int) -> None:
    element.content_end = element.end = position


def _close_implied(open_elements: list[MarkupElement], name: str, position: int) -> None:
    if name in _CLOSES_PARAGRAPH and open_elements[-1].name == "p":
        _close(open_elements.pop(), position)
    if name not in _IMPLIED_ENDS:
        return
    closed_names, limits = _IMPLIED_ENDS[name]
    at = len(open_elements) - 1
    while at > 0 and open_elements[at].name not in limits:
        if open_elements[at].name in closed_names:
            for element in open_elements[at:]:
                _close(element, position)
            del open_elements[at:]
            return
        at -= 1


def _element(source: str, tag: StartTag, offset: int, syntax: Syntax, parent: MarkupElement) -> MarkupElement:
    attributes = {name: _attribute(source, name, offset + start, offset + end) for name, start, end in tag.spans}
    return MarkupElement(
        tag.name,
        syntax,
        offset + tag.start,
        offset + tag.end,
        name_end=offset + tag.start + 1 + len(tag.name),
        end=offset + tag.end,
        attributes=attributes,
        children=[],
        parent=parent,
    )


def _attribute(source: str, name: str, start: int, end: int) -> MarkupAttribute:
    value = _VALUE.match(source, start, end)
    if value is None:
        return MarkupAttribute(name, start, end)
    quote = value["quote"]
    return MarkupAttribute(name, start, end, value.end(), end - len(quote), quote)
