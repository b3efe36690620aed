"""Writes a page in the files of a stack: Vue, Ionic, Bootstrap, SVG, and by their own modules HTML and React."""

import base64
import math
from collections.abc import Callable, Sequence
from html import escape
from types import MappingProxyType

from weft.core.markup import VOID_ELEMENTS
from weft.vision.arrange.nodes import length
from weft.vision.elements import (
    Box,
    Gradient,
    Node,
    Page,
    PictureElement,
    Rect,
    TextLine,
    VisionError,
    walk_nodes,
)
from weft.vision.see.fonts import FONT_STACKS
from weft.vision.write.html_css import CDN, Attributes, element, html_page, write_html_css
from weft.vision.write.icons import VUE_ICON, name_icons, write_vue_icon
from weft.vision.write.jsx import write_react, write_react_vite
from weft.vision.write.repeats import Repeat, Repeats, slot_name
from weft.vision.write.sheet import is_inline, is_sentence, stylesheet
from weft.vision.write.tailwind import (
    TAILWIND,
    class_attributes,
    classes,
    name_values,
    page_classes,
    write_html_tailwind,
)

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
    data = "".join(f"      {each.data}: [\n{each.entries(8)}      ],\n" for each in lists)
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
        found = repeats.extract(group)
        lists.append(found)
        written.append(_vue_item(found.template, looks, depth, f' v-for="(each, at) in {found.data}" :key="at"'))
    return written


def _vue(node: Node, looks: Attributes, depth: int, repeats: Repeats, lists: list[Repeat]) -> str:
    """Write an element. `v-pre` keeps texts from being read as expressions where nothing is repeated."""
    if not node.tag or node.tag == VUE_ICON:
        return _vue_item(node, looks, depth)
    if not _holds_group(node, repeats) and not any(each.tag == VUE_ICON for each in walk_nodes(node.children)):
        return element(node, lambda each: f"{looks(each)}{' v-pre' if each is node else ''}", depth)
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
        own = sheet.attribute(node)[8:-1]
        names = [*_bootstrap(node), *([own] if own else [])]
        if not own and "btn" in names:  # a rule for its tag is weaker than that of Bootstrap, which has other colours
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


def write_svg(page: Page) -> dict[str, str | bytes]:
    """Write one `image.svg` with its pictures embedded; nothing flows in it."""
    detection = page.detection
    definitions = [
        _gradient(number, box.gradient, box.rect) for number, box in enumerate(detection.boxes) if box.gradient
    ]
    parts = [f'<rect width="{detection.width}" height="{detection.height}" fill="{detection.background}"/>']
    photos = [picture for picture in detection.pictures if picture.kind in ("photo", "ground")]
    over = [_over(box, photos) for box in detection.boxes]
    parts += [_box(number, box) for number, box in enumerate(detection.boxes) if not over[number]]
    parts += [_picture(picture) for picture in photos]
    parts += [_box(number, box) for number, box in enumerate(detection.boxes) if over[number]]
    parts += [_picture(picture) for picture in detection.pictures if picture not in photos]
    parts += [_line(line) for text in detection.texts for line in text.lines]
    inner = "\n    ".join(definitions)
    defs = f"  <defs>\n    {inner}\n  </defs>\n" if definitions else ""
    body = "\n".join(f"  {part}" for part in parts)
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{detection.width}" height="{detection.height}" '
        f'viewBox="0 0 {detection.width} {detection.height}" style="max-width: 100%; height: auto">\n'
        f"  <title>{escape(page.title, quote=False)}</title>\n{defs}{body}\n</svg>\n"
    )
    return {"image.svg": text}


def _gradient(number: int, gradient: Gradient, rect: Rect) -> str:
    stops = "".join(f'<stop offset="{place:g}" stop-color="{colour}"/>' for place, colour in gradient.steps)
    if gradient.middle is not None:
        (across, down), (wide, high) = gradient.middle, gradient.reach
        shape = f'gradientTransform="translate({across:g} {down:g}) scale({wide:g} {high:g})" cx="0" cy="0" r="1"'
        return f'<radialGradient id="shade-{number}" {shape}>{stops}</radialGradient>'
    turn = math.radians(gradient.angle)
    across, down = math.sin(turn), -math.cos(turn)
    half = (abs(rect.w * across) + abs(rect.h * down)) / 2
    x, y = rect.middle
    ends = (x - half * across, y - half * down, x + half * across, y + half * down)
    line = " ".join(f'{name}="{_number(end)}"' for name, end in zip(("x1", "y1", "x2", "y2"), ends, strict=True))
    return f'<linearGradient id="shade-{number}" gradientUnits="userSpaceOnUse" {line}>{stops}</linearGradient>'


def _box(number: int, box: Box) -> str:
    rect = box.rect
    fill = f"url(#shade-{number})" if box.gradient is not None else box.fill
    radius = f' rx="{_number(box.radius)}"' if box.radius >= 1 else ""
    if box.border is None:
        return f'<rect {_place(rect.x, rect.y, rect.w, rect.h)}{radius} fill="{fill}"/>'
    wide = max(box.border.widths)
    inset = _place(rect.x + wide / 2, rect.y + wide / 2, rect.w - wide, rect.h - wide)
    return f'<rect {inset}{radius} fill="{fill}" stroke="{box.border.colour}" stroke-width="{_number(wide)}"/>'


def _over(box: Box, photos: Sequence[PictureElement]) -> bool:
    rects = [photo.rect for photo in photos]
    return any(box.rect.common(photo) > 0.1 * box.rect.area and not box.rect.holds(photo, 1) for photo in rects)


def _picture(picture: PictureElement) -> str:
    place = _place(picture.rect.x, picture.rect.y, picture.rect.w, picture.rect.h)
    if picture.shapes:
        return (
            picture.vector.strip()
            .replace('<svg xmlns="http://www.w3.org/2000/svg" ', f"<svg {place} ")
            .replace(f'{place} width="{picture.rect.w:g}" height="{picture.rect.h:g}"', place, 1)
        )
    data = base64.b64encode(picture.content).decode()
    return f'<image {place} href="data:image/png;base64,{data}"/>'


def _line(line: TextLine) -> str:
    style = line.style
    extra = ' font-weight="700"' if style.weight >= 600 else ""
    extra += ' font-style="italic"' if style.italic else ""
    extra += f' letter-spacing="{style.spacing:g}"' if style.spacing else ""
    extra += ' text-decoration="underline"' if style.underline else ""
    family = escape(FONT_STACKS[style.family])
    return (
        f'<text x="{_number(line.rect.x)}" y="{_number(line.baseline)}" font-family="{family}" '
        f'font-size="{style.size:g}"{extra} fill="{style.colour}">{escape(line.text, quote=False)}</text>'
    )


def _place(x: float, y: float, w: float, h: float) -> str:
    return f'x="{_number(x)}" y="{_number(y)}" width="{_number(w)}" height="{_number(h)}"'


def _number(value: float) -> str:
    return length(value).removesuffix("px")


Files = dict[str, str | bytes]  # paths in the project, with text or, for pictures, bytes

STACKS: MappingProxyType[str, Callable[[Page], Files]] = MappingProxyType(
    {
        "html_css": write_html_css,
        "html_tailwind": write_html_tailwind,
        "react_tailwind": write_react,
        "react_vite": write_react_vite,
        "vue_tailwind": write_vue,
        "bootstrap": write_bootstrap,
        "ionic_tailwind": write_ionic,
        "svg": write_svg,
    }
)


def write_files(page: Page, stack: str = "html_css") -> Files:
    """Write the files of a page. An unknown stack is a VisionError."""
    writer = STACKS.get(stack)
    if writer is None:
        raise VisionError(f"There is no stack {stack!r}; use one of {', '.join(STACKS)}.")
    return writer(page)
