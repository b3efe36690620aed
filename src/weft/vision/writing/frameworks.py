"""React, Vue and Ionic with Tailwind, and Bootstrap: the same elements in the words of each."""

import json
import re
from html import escape

from weft.vision.page import Node, Page
from weft.vision.writing.markup import VOID, element
from weft.vision.writing.stylesheet import stylesheet
from weft.vision.writing.tailwind import attribute, classes, outer

_TAILWIND = '<script src="https://cdn.tailwindcss.com"></script>'
_CDN = "https://cdn.jsdelivr.net/npm"
_IONIC = """<style>
html, body, ion-app, ion-content {
  position: static !important; contain: none !important; overflow: visible !important; transform: none !important;
  height: auto !important; max-height: none !important;
}
body, ion-app, ion-content { display: block !important; visibility: visible !important; }
ion-content::part(scroll) { position: static; overflow: visible; contain: none; }
ion-content::part(background) { display: none; }
</style>"""
"""The page scrolls as a whole, as the one that was seen."""
_JSX_NAMES = {"for": "htmlFor", "tabindex": "tabIndex"}


def write_react(page: Page) -> dict[str, str | bytes]:
    """One page with an `App` component; Babel compiles it in the browser."""
    body = "\n".join(_jsx(node, 5) for node in page.body)
    scripts = [
        f'<script src="{_CDN}/react@18.3.1/umd/react.production.min.js"></script>',
        f'<script src="{_CDN}/react-dom@18.3.1/umd/react-dom.production.min.js"></script>',
        f'<script src="{_CDN}/@babel/standalone@7/babel.min.js"></script>',
        _TAILWIND,
    ]
    inside = f"""<div id="root"></div>
<script type="text/babel">
    function App() {{
      return (
        <div className={_jsx_value(outer(page))}>
{body}
        </div>
      );
    }}

    ReactDOM.createRoot(document.getElementById("root")).render(<App />);
</script>"""
    return _page(page, scripts, inside)


def write_vue(page: Page) -> dict[str, str | bytes]:
    """One page whose template Vue mounts; texts are plain, so nothing of them is taken for an expression."""
    body = "\n".join(element(node, attribute, 2) for node in page.body)
    scripts = [f'<script src="{_CDN}/vue@3/dist/vue.global.prod.js"></script>', _TAILWIND]
    scripts.append("<style>[v-cloak] { display: none; }</style>")
    inside = f"""<div id="app" v-cloak>
  <div v-pre class="{escape(outer(page))}">
{body}
  </div>
</div>
<script>
Vue.createApp({{}}).mount("#app");
</script>"""
    return _page(page, scripts, inside)


def write_ionic(page: Page) -> dict[str, str | bytes]:
    """An Ionic app with one content; its own elements stand where they are the same thing (buttons stay plain)."""
    body = "\n".join(element(node, attribute, 4) for node in page.body)
    scripts = [
        f'<script type="module" src="{_CDN}/@ionic/core/dist/ionic/ionic.esm.js"></script>',
        f'<link rel="stylesheet" href="{_CDN}/@ionic/core/css/ionic.bundle.css">',
        _TAILWIND,
        _IONIC,
    ]
    inside = f"""<ion-app>
  <ion-content>
    <div class="{escape(outer(page))}">
{body}
    </div>
  </ion-content>
</ion-app>"""
    return _page(page, scripts, inside)


def write_bootstrap(page: Page) -> dict[str, str | bytes]:
    """Bootstrap's reset and its utilities for layout; what they cannot say stands in a style sheet."""
    sheet = stylesheet(page, prefix="own-")

    def looks(node: Node) -> str:
        own = sheet.attribute(node)[8:-1]
        names = [*_bootstrap(node), *([own] if own else [])]
        return f' class="{" ".join(names)}"' if names else ""

    body = "\n".join(element(node, looks, 1) for node in page.body)
    scripts = [
        f'<link rel="stylesheet" href="{_CDN}/bootstrap@5.3.8/dist/css/bootstrap.min.css">',
        f"<style>\n{sheet.css}\n</style>",
    ]
    script = f'<script src="{_CDN}/bootstrap@5.3.8/dist/js/bootstrap.bundle.min.js"></script>'
    return _page(page, scripts, f"{body}\n{script}")


def _bootstrap(node: Node) -> list[str]:
    style = dict(node.style)
    names: list[str] = []
    if style.get("display") == "flex":
        names.append("d-flex")
        if style.get("flex-direction") == "column":
            names.append("flex-column")
    if style.get("display") == "grid":
        names.append("d-grid")
    if node.tag == "button":
        names.append("btn")
    if style.get("font-weight") == "700":
        names.append("fw-bold")
    return names


def _page(page: Page, head: list[str], body: str) -> dict[str, str | bytes]:
    lines = "\n".join(head)
    text = f"""<!DOCTYPE html>
<html lang="{page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(page.title, quote=False)}</title>
{lines}
</head>
<body>
{body}
</body>
</html>
"""
    return {"index.html": text, **dict(page.assets)}


def _jsx(node: Node, depth: int) -> str:
    """An element as JSX: names in camel case, text as strings, so that no brace or quote means anything."""
    pad = "  " * depth
    names = classes(node)
    attributes = f" className={_jsx_value(names)}" if names else ""
    for name, value in node.attributes:
        attributes += f" {_JSX_NAMES.get(name, name)}={_jsx_value(value)}"
    if node.tag in VOID:
        return f"{pad}<{node.tag}{attributes} />"
    words = "<br />".join(_jsx_text(line) for line in node.lines)
    if not node.children:
        return f"{pad}<{node.tag}{attributes}>{words}</{node.tag}>"
    inside = "\n".join(_jsx(child, depth + 1) for child in node.children)
    return f"{pad}<{node.tag}{attributes}>{words}\n{inside}\n{pad}</{node.tag}>"


def _jsx_value(value: str) -> str:
    if re.search(r"[\"\\{}<>&]", value):
        return "{" + json.dumps(value, ensure_ascii=False).replace("<", "\\u003c") + "}"
    return f'"{value}"'


def _jsx_text(line: str) -> str:
    if re.search(r"[{}<>&\\]", line):
        return "{" + json.dumps(line, ensure_ascii=False).replace("<", "\\u003c") + "}"
    return line
