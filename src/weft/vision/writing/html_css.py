"""HTML with one style sheet: equal styles share a class, colours are variables."""

from html import escape

from weft.vision.page import Page
from weft.vision.writing.markup import element
from weft.vision.writing.stylesheet import stylesheet


def write_html_css(page: Page) -> dict[str, str | bytes]:
    """`index.html` with its style inside, and the assets."""
    sheet = stylesheet(page)
    body = "\n".join(element(node, sheet.attribute, 1) for node in page.body)
    text = f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title, quote=False)}</title>
<style>
{sheet.css}
</style>
</head>
<body>
{body}
</body>
</html>
"""
    return {"index.html": text, **dict(page.assets)}
