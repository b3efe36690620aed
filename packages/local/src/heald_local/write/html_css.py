"""Writes a page as HTML with one style sheet."""

from collections.abc import Callable, Iterable
from html import escape

from heald.core.markup import VOID_ELEMENTS
from heald_local.page import Node, Page
from heald_local.write.sheet import is_inline, stylesheet

CDN = "https://cdn.jsdelivr.net/npm"
Attributes = Callable[[Node], str]  # such as a class, with a leading space, or nothing


def html_page(page: Page, head: Iterable[str], body: str, attributes: str = "") -> dict[str, str | bytes]:
    """Write `index.html` with these lines in its head, and the assets."""
    lines = "\n".join(head)
    direction = ' dir="rtl"' if page.is_leftward else ""
    text = f"""<!DOCTYPE html>
<html lang="{page.language}"{direction}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title, quote=False)}</title>
{lines}
</head>
<body{attributes}>
{body}
</body>
</html>
"""
    return {"index.html": text, **dict(page.assets)}


def element(node: Node, looks: Attributes, depth: int = 0) -> str:
    """Write an element and its content as HTML, each element on a line, and an entry of a menu on one."""
    pad = "  " * depth
    if not node.tag:
        return escape("".join(node.lines), quote=False)
    plain = "".join(
        f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes if name != "alt"
    )
    alt = "".join(f' alt="{escape(value)}"' for name, value in node.attributes if name == "alt")
    opening = f"{pad}<{node.tag}{looks(node)}{plain}{alt}>"
    if node.tag in VOID_ELEMENTS:
        return opening
    words = "<br>".join(escape(line, quote=False) for line in node.lines)
    if not node.children:
        return f"{opening}{words}</{node.tag}>"
    if is_inline(node) or _is_entry(node):
        return f"{opening}{''.join(element(child, looks) for child in node.children)}</{node.tag}>"
    inside = "\n".join(element(child, looks, depth + 1) for child in node.children)
    first = f"\n{pad}  {words}" if words else ""
    return f"{opening}{first}\n{inside}\n{pad}</{node.tag}>"


def _is_entry(node: Node) -> bool:
    """Whether an item of a list has one thing only, such as a link: a line that a reader can copy."""
    return node.tag == "li" and not node.lines and len(node.children) == 1 and not node.children[0].children


def write_html_css(page: Page) -> dict[str, str | bytes]:
    """Write `index.html` with its style inside, and the assets."""
    sheet = stylesheet(page)
    body = "\n".join(element(node, sheet.attribute, 1) for node in page.body)
    return html_page(page, [f"<style>\n{sheet.css}\n</style>"], body)
