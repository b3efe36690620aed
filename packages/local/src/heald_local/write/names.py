"""Names elements after what they are: `hero`, `price-card`, `site-nav`, `section-title`, `muted-text`."""

import re
from collections.abc import Sequence

from heald_local.arrange.anchors import slug
from heald_local.page import Node, walk_nodes
from heald_local.write.tokens import is_vivid
from heald_pictures.colours import luminance

_PRICE = re.compile(r"[$€£¥₽]\s?\d|\d\s?[$€£¥₽]")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)px")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LANDMARKS = {"header": "site-header", "footer": "site-footer", "main": "page", "aside": "sidebar", "form": "form"}
_PLAIN = frozenset({"stack", "row", "block", "layers", "section", "cards", "card", "item", "columns", "div"})


def words_of(node: Node) -> str:
    """Return all text of a node."""
    return " ".join(line for inner in walk_nodes((node,)) for line in inner.lines).strip()


def container_names(node: Node, parent: str, first: bool) -> list[str]:
    """Return names for an element that holds others, the best first. `first` is the page's first section."""
    words = words_of(node)
    if node.tag in _LANDMARKS:
        return [_LANDMARKS[node.tag]]
    if node.name == "container":
        return ["container", f"{parent}-container"]
    if node.tag in ("td", "th", "tr"):
        return ["table-row"] if node.tag == "tr" else ["cell", f"{parent}-cell"]
    if node.tag == "nav":
        return ["site-nav" if parent == "site-header" else f"{parent}-nav", "nav"]
    if node.tag in ("article", "li") or node.name in ("card", "item"):
        return [_card_name(node, words), f"{parent}-item"]
    if node.tag in ("ul", "ol"):
        return [f"{parent}-list", "list"]
    if node.tag == "button":
        label = node.name if node.name not in _PLAIN else "button"
        return [label, f"{parent}-{label}"]
    if node.tag == "section" and node.name == "scroll":
        return ["table-region"]
    if any(child.tag == "article" for child in node.children) and node.tag != "section":
        return ["card-grid", f"{parent}-grid"]
    if node.tag == "section" or parent == "page":
        label = _heading_slug(node)
        return [*(["hero"] if first else []), *([label] if label else []), *_content_names(node, parent)]
    return _content_names(node, parent)


_CONTENTS = {"svg": "icon", "a": "link", "button": "button", "img": "photo", "input": "field", "p": "text"}


def shared_names(node: Node) -> list[str]:
    """Return names for plain rows and columns that several parts of the page share, after what is in them first."""
    style = dict(node.style)
    if node.tag != "div" or not node.children or style.get("display") != "flex" or "background" in style:
        return []
    kind = "stack" if style.get("flex-direction") == "column" else "row"
    return [f"{_CONTENTS.get(node.children[0].tag, 'group')}-{kind}"]


def _content_names(node: Node, parent: str) -> list[str]:
    tags = [child.tag for child in node.children]
    style = dict(node.style)
    if style.get("display") == "grid" and "grid-template-columns" in style:
        return [f"{parent}-grid", "grid"]
    if tags and all(tag == "button" for tag in tags):
        return [f"{parent}-actions", "actions"]
    if "background" in style and not node.children:
        return [f"{parent}-mark", "mark"]
    if "background" in style or "border" in style:
        return [f"{parent}-panel", "panel"]
    if style.get("display") == "flex" and style.get("flex-direction") != "column":
        return [f"{parent}-row", "row"]
    return [f"{parent}-content" if "img" in tags or len(tags) > 2 else f"{parent}-text", f"{parent}-group"]


def _card_name(node: Node, words: str) -> str:
    pictured = any(inner.tag == "img" and ("alt", "") not in inner.attributes for inner in walk_nodes((node,)))
    if node.tag == "li" or node.name == "item":
        return "list-item"
    if _PRICE.search(words):
        return "product-card" if pictured else "price-card"
    return "photo-card" if pictured else "card"


def _heading_slug(node: Node) -> str:
    heading = next((inner for inner in walk_nodes((node,)) if inner.tag in ("h1", "h2", "h3")), None)
    return slug(" ".join(heading.lines)) if heading is not None else ""


def leaf_names(node: Node, parent: str, body_size: float) -> list[str]:
    """Return names for an element without others in it, the best first."""
    style = dict(node.style)
    if node.tag in ("h1", "h2", "h3"):
        role = {"h1": "title", "h2": "section-title", "h3": "minor-title"}[node.tag]
        return [role, f"{parent}-title"] if node.tag != "h3" or parent == "page" else [f"{parent}-title", role]
    if node.tag == "a":
        return ["nav-link" if "nav" in parent else "link", f"{parent}-link"]
    if node.tag == "button":
        kind = "outline-button" if "border" in style and style.get("border") != "0" else "button"
        return [kind, f"{parent}-{kind}"]
    if node.tag in ("input", "select", "textarea", "label", "th", "td", "b", "strong", "em", "figcaption"):
        named = {"th": "column-head", "td": "cell", "figcaption": "caption", "b": "strong"}.get(
            node.tag, node.name or node.tag
        )
        return [named, f"{parent}-{named}"]
    if node.tag in ("img", "svg") or not node.lines:
        named = node.name if node.name not in _PLAIN else "mark"
        return [named, f"{parent}-{named}"]
    if "background" in style and node.name in ("badge", "avatar"):
        return [node.name, f"{parent}-{node.name}"]
    return _text_names(style, parent, body_size)


def _text_names(style: dict[str, str], parent: str, body_size: float) -> list[str]:
    size_match = _SIZE.search(style.get("font-size", ""))
    size = float(size_match[1]) if size_match is not None else body_size
    bold = style.get("font-weight", "400") >= "600"
    if size >= 1.7 * body_size:
        role = "figure" if bold else "display-text"
    elif size >= 1.12 * body_size:
        role = "strong-lead" if bold else "lead"
    elif size <= 0.88 * body_size:
        role = "label-text" if bold else "small-text"
    else:
        role = "strong-text" if bold else "body-text"
    return [role, f"{parent}-{role}", f"{parent}-{_tone(style)}-{role}"]


def _tone(style: dict[str, str]) -> str:
    """Return a word for the colour of a text."""
    colour = style.get("color", "")
    if not _COLOUR.fullmatch(colour):
        return "plain"
    if is_vivid(colour):
        return "accent"
    light = luminance(colour)
    return "light" if light > 0.6 else "muted" if light > 0.08 else "dark"


def word_names(node: Node, noun: str) -> list[str]:
    """Return names after the first words of an element: `opening-hours-link`."""
    words = slug(words_of(node))
    return [f"{words}-{noun.rsplit('-', 1)[-1]}"] if words else []


def choose_name(candidates: Sequence[str], used: set[str]) -> str:
    """Return the first candidate that is free; the last one gets a number if none is."""
    for name in candidates:
        if name not in used:
            return name
    number = 2
    while f"{candidates[-1]}-{number}" in used:
        number += 1
    return f"{candidates[-1]}-{number}"
