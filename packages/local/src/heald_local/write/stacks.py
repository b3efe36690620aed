"""Writes a page in the files of a stack: Vue, Ionic and Bootstrap here, the others in modules of their own."""

from collections.abc import Callable, Sequence
from html import escape
from types import MappingProxyType

from heald.core.markup import VOID_ELEMENTS
from heald_local.page import Node, Page, walk_nodes
from heald_local.write.html_css import CDN, Attributes, element, html_page, write_html_css
from heald_local.write.icons import VUE_ICON, name_icons, write_vue_icon
from heald_local.write.jsx import write_react, write_react_vite
from heald_local.write.next import write_next
from heald_local.write.repeats import Repeat, Repeats, slot_name
from heald_local.write.sheet import is_inline, is_sentence, stylesheet
from heald_local.write.svg import write_svg
from heald_local.write.tailwind import (
    TAILWIND,
    class_attributes,
    classes,
    name_values,
    page_classes,
    write_html_tailwind,
)
from heald_local.write.templates import write_astro, write_svelte
from heald_pictures.errors import VisionError

_IONIC = """<style>
html, body, ion-app, ion-content {
  position: static !important; contain: none !important; overflow: visible !important; transform: none !important;
  height: auto !important; max-height: none !important;
}
body, ion-app, ion-content { display: block !important; visibility: visible !important; }
ion-content::part(scroll) { position: static; overflow: visible; contain: none; }
ion-content::part(background) { display: none; }
</style>"""
"""Ionic: the page scrolls as a whole, as on the screenshot."""


def write_vue(page: Page) -> dict[str, str | bytes]:
    """Write a page whose template Vue mounts: siblings that differ in content alone are a `v-for` over data."""
    icons = name_icons(page, VUE_ICON)
    page = icons.page
    looks = class_attributes(page)
    repeats = Repeats(lambda node: classes(node, page.width))
    lists: list[Repeat] = []
    body = "\n".join(_vue_children(page.body, looks, 2, repeats, lists))
    data = "".join(f"      {repeat.data}: [\n{repeat.entries(8)}      ],\n" for repeat in lists)
    options = f"{{\n  data() {{\n    return {{\n{data}    }};\n  }},\n}}" if lists else "{}"
    app = f"const app = Vue.createApp({options});\n"
    if icons.paths:
        app = f'const icons = {{\n{icons.entries(2)}}};\n{app}app.component("AppIcon", {write_vue_icon()});\n'
    scripts = [f'<script src="{CDN}/vue@3/dist/vue.global.prod.js"></script>', TAILWIND]
    scripts.append("<style>[v-cloak] { display: none; }</style>")
    inside = f"""<div id="app" v-cloak>
  <div class="{escape(page_classes(page))}">
{body}
  </div>
</div>
<script>
{app}app.mount("#app");
</script>"""
    return name_values(page, html_page(page, scripts, inside))


def _vue_children(
    nodes: Sequence[Node], looks: Attributes, depth: int, repeats: Repeats, lists: list[Repeat]
) -> list[str]:
    written: list[str] = []
    for group in repeats.find(nodes):
        if len(group) == 1:
            written.append(_vue(group[0], looks, depth, repeats, lists))
            continue
        repeat = repeats.extract(group)
        lists.append(repeat)
        written.append(_vue_item(repeat.template, looks, depth, f' v-for="(each, at) in {repeat.data}" :key="at"'))
    return written


def _vue(node: Node, looks: Attributes, depth: int, repeats: Repeats, lists: list[Repeat]) -> str:
    """Write an element. `v-pre` keeps texts from being read as expressions where nothing is repeated."""
    if not node.tag or node.tag == VUE_ICON:
        return _vue_item(node, looks, depth)
    if not _holds_group(node, repeats) and not any(inner.tag == VUE_ICON for inner in walk_nodes(node.children)):
        return element(node, lambda inner: f"{looks(inner)}{' v-pre' if inner is node else ''}", depth)
    if node.lines or is_inline(node):
        return _vue_item(node, looks, depth)
    pad = "  " * depth
    inside = "\n".join(_vue_children(node.children, looks, depth + 1, repeats, lists))
    plain = "".join(f' {name}="{escape(value)}"' for name, value in node.attributes)
    return f"{pad}<{node.tag}{looks(node)}{plain}>\n{inside}\n{pad}</{node.tag}>"


def _holds_group(node: Node, repeats: Repeats) -> bool:
    """Whether children of an element, or of one in it, are repeated."""
    if is_sentence(node) or node.lines:
        return False
    if any(len(group) > 1 for group in repeats.find(node.children)):
        return True
    return any(_holds_group(child, repeats) for child in node.children)


def _vue_item(node: Node, looks: Attributes, depth: int, first: str = "") -> str:
    """Write an element of a list; its slots become expressions."""
    pad = "  " * depth
    if not node.tag:
        return "".join(_vue_text(line) for line in node.lines)
    view = "view" if node.tag == VUE_ICON else "viewBox"  # parsers write the names of properties in small letters
    plain = "".join(
        f' :{view if name == "viewBox" else name}="each.{slot}"'
        if (slot := slot_name(value))
        else f' {view if name == "viewBox" else name}="{escape(value)}"'
        for name, value in node.attributes
    )
    opening = f"{pad}<{node.tag}{first}{looks(node)}{plain}>"
    if node.tag in VOID_ELEMENTS:
        return opening
    words = "<br>".join(_vue_text(line) for line in node.lines)
    if is_inline(node) or not node.children:
        inside = "".join(_vue_item(child, looks, 0) for child in node.children)
        return f"{opening}{words}{inside}</{node.tag}>"
    inside = "\n".join(_vue_item(child, looks, depth + 1) for child in node.children)
    return f"{opening}{words}\n{inside}\n{pad}</{node.tag}>"


def _vue_text(text: str) -> str:
    if name := slot_name(text):
        return f"{{{{ each.{name} }}}}"
    return escape(text, quote=False).replace("{{", "{{ '{{' }}")


def write_ionic(page: Page) -> dict[str, str | bytes]:
    """Write an Ionic app with one content."""
    looks = class_attributes(page)
    body = "\n".join(element(node, looks, 4) for node in page.body)
    scripts = [
        f'<script type="module" src="{CDN}/@ionic/core/dist/ionic/ionic.esm.js"></script>',
        f'<link rel="stylesheet" href="{CDN}/@ionic/core/css/ionic.bundle.css">',
        TAILWIND,
        _IONIC,
    ]
    inside = f"""<ion-app>
  <ion-content>
    <div class="{escape(page_classes(page))}">
{body}
    </div>
  </ion-content>
</ion-app>"""
    return name_values(page, html_page(page, scripts, inside))


def write_bootstrap(page: Page) -> dict[str, str | bytes]:
    """Write a page with Bootstrap's utilities for layout, and a style sheet for the rest."""
    sheet = stylesheet(page, prefix="own-")

    def looks(node: Node) -> str:
        class_name = sheet.attribute(node)[8:-1]
        names = [*_bootstrap(node), *([class_name] if class_name else [])]
        if (
            not class_name and "btn" in names
        ):  # a rule for its tag is weaker than that of Bootstrap, which has other colours
            names.remove("btn")
        return f' class="{" ".join(names)}"' if names else ""

    body = "\n".join(element(node, looks, 1) for node in page.body)
    scripts = [
        f'<link rel="stylesheet" href="{CDN}/bootstrap@5.3.8/dist/css/bootstrap.min.css">',
        f"<style>\n{sheet.css}\n</style>",
    ]
    script = f'<script src="{CDN}/bootstrap@5.3.8/dist/js/bootstrap.bundle.min.js"></script>'
    return html_page(page, scripts, f"{body}\n{script}")


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


Files = dict[str, str | bytes]  # paths in the project, with text or, for pictures, bytes

STACKS: MappingProxyType[str, Callable[[Page], Files]] = MappingProxyType(
    {
        "html_css": write_html_css,
        "html_tailwind": write_html_tailwind,
        "react_tailwind": write_react,
        "react_vite": write_react_vite,
        "next_shadcn": write_next,
        "svelte_vite": write_svelte,
        "astro_tailwind": write_astro,
        "vue_tailwind": write_vue,
        "bootstrap": write_bootstrap,
        "ionic_tailwind": write_ionic,
        "svg": write_svg,
    }
)
PROJECTS = frozenset({"react_vite", "next_shadcn", "svelte_vite", "astro_tailwind"})
"""The stacks that have several files."""
ENTRIES = MappingProxyType(
    {"svg": "image.svg", "next_shadcn": "app/page.tsx", "astro_tailwind": "src/pages/index.astro"}
)
"""The entries of the stacks that have no `index.html`."""


def write_files(page: Page, stack: str = "html_css") -> Files:
    """Write the files of a page. An unknown stack is a VisionError."""
    writer = STACKS.get(stack)
    if writer is None:
        raise VisionError(f"There is no stack {stack!r}; use one of {', '.join(STACKS)}.")
    return writer(page)
