"""Writes a page as a project of Next.js, with components like those of shadcn/ui where the page has them."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from heald_local.page import Node, Page, walk_nodes
from heald_local.write.icons import write_react_icon
from heald_local.write.jsx import JSX, PUBLIC, ComponentWriter, MarkupLanguage, root_element, write_function
from heald_local.write.repeats import Repeat, Repeats
from heald_local.write.theme import Theme, read_theme, rename_classes

_UI = "components/ui/"
_UI_NAMES = ("Button", "Card", "Input", "Textarea")
_BUTTON = re.compile(r'<button className="(?P<classes>[^"]*)"')
_FIELD = re.compile(r'<(?P<tag>input|textarea) className="(?P<classes>[^"]*)"(?P<rest>[^>]*)')
_CARD = re.compile(r'<Card className="(?P<classes>[^"]*)"')
_FEWEST_PARTS = 2  # a box with fewer is not a card
_OTHER_FIELDS = re.compile(r'type="(?:checkbox|radio|range|color|file|hidden|submit|button|image)"')
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_NUMBERS = re.compile(r"\b(?P<name>tabIndex|rows|cols|colSpan|rowSpan|maxLength|minLength|size)=\"(?P<value>-?\d+)\"")
_FLAGS = re.compile(r'\b(?P<name>defaultChecked|disabled|required|multiple|hidden|open)=""')
_CAMEL = {"colspan": "colSpan", "rowspan": "rowSpan", "maxlength": "maxLength", "readonly": "readOnly"} | {
    "autocomplete": "autoComplete",
    "inputmode": "inputMode",
    "datetime": "dateTime",
    "srcset": "srcSet",
}
_LOWER = re.compile(rf" (?P<name>{'|'.join(_CAMEL)})(?==)")
_ROLES = {"ink": "foreground", "muted": "muted-foreground", "line": "border"}
"""The names of colours that a theme has, and the variables of shadcn/ui with the same meaning."""
_COLOURS = {
    "background": "#ffffff",
    "foreground": "#171717",
    "card": "#ffffff",
    "card-foreground": "#171717",
    "primary": "#18181b",
    "primary-foreground": "#fafafa",
    "secondary": "#f4f4f5",
    "secondary-foreground": "#18181b",
    "muted": "#f4f4f5",
    "muted-foreground": "#6b6b74",
    "accent": "#f4f4f5",
    "accent-foreground": "#18181b",
    "destructive": "#c81e1e",
    "destructive-foreground": "#ffffff",
    "border": "#e4e4e7",
    "input": "#d4d4d8",
    "ring": "#71717a",
}
"""The variables of shadcn/ui, with the values of those that the page does not set."""
_RADII = {
    "sm": "calc(var(--radius) - 4px)",
    "md": "calc(var(--radius) - 2px)",
    "lg": "var(--radius)",
    "xl": "calc(var(--radius) + 4px)",
}


def write_next(page: Page) -> dict[str, str | bytes]:
    """Write a page of the App Router: components in `components`, the data of lists in `data`."""
    made = ComponentWriter(page, MarkupLanguage(JSX.opening, _write_element), reserved_names=("Page", *_UI_NAMES))
    primary = _main_button(page)
    files: dict[str, str] = {}
    if made.icons.paths:
        files["data/icons.ts"] = f"export const ICONS: Record<string, string> = {{\n{made.icons.entries(2)}}};\n"
        above = 'import type { ComponentProps } from "react";\n\nimport { ICONS } from "@/data/icons";'
        icon = write_react_icon().replace(
            "({ name, ...props })", '({ name, ...props }: ComponentProps<"svg"> & { name: string })'
        )
        files["components/icon.tsx"] = f"{above}\n\nexport function Icon{icon}\n"
    for part in made.components:
        files[f"components/{_file_name(part.name)}.tsx"] = _module(part.name, part.markup, part.lists, primary)
    for repeat in made.all_lists:
        files[f"data/{_file_name(repeat.data)}.ts"] = f"export const {repeat.data} = [\n{repeat.entries(2)}];\n"
        module = _module(repeat.name, made.item(repeat), (), primary, repeat.slots)
        files[f"components/{_file_name(repeat.name)}.tsx"] = module
    imports = [f'import {{ {part.name} }} from "@/components/{_file_name(part.name)}";' for part in made.components]
    body = root_element(page, made.body)
    files["app/page.tsx"] = _module("Page", body, made.lists, primary, imports=imports, exported="export default ")
    files = {path: _typed(text).replace('"assets/', '"/assets/') for path, text in files.items()}
    theme = read_theme(page, files.values())
    # tailwind-merge reads a name of the theme for a size or a radius as a colour, or not at all.
    names = {value: _role(name, value, primary[0]) for value, name in theme.colours.items()}
    theme = replace(theme, sizes={}, radii={}, colours=names)
    return {
        **{path: rename_classes(text, theme) for path, text in files.items()},
        **{f"{PUBLIC}{path}": data for path, data in page.assets},
        "app/layout.tsx": _layout(page),
        "app/globals.css": _styles(page, theme, primary),
    }


def _module(
    name: str,
    markup: str,
    lists: Sequence[Repeat],
    primary: tuple[str, str],
    slots: Sequence[str] = (),
    *,
    imports: Sequence[str] = (),
    exported: str = "export ",
) -> str:
    markup = _with_ui(markup, primary)
    needed = [*imports, *_ui_imports(markup)]
    needed += ['import { Icon } from "@/components/icon";'] if "<Icon " in markup else []
    needed += [f'import {{ {repeat.name} }} from "@/components/{_file_name(repeat.name)}";' for repeat in lists]
    needed += [f'import {{ {repeat.data} }} from "@/data/{_file_name(repeat.data)}";' for repeat in lists]
    above = "\n".join(sorted(needed)) + "\n\n" if needed else ""
    function = write_function(name, markup, slots)
    if slots:
        types = "; ".join(f"{slot}: string" for slot in slots)
        function = function.replace("})", f"}}: {{ {types} }})", 1)
    return f"{above}{exported}{function}\n"


def _file_name(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _main_button(page: Page) -> tuple[str, str]:
    """Return the colours of the buttons that the page has most of: background and text; empty if there are none."""
    pairs: Counter[tuple[str, str]] = Counter()
    for node in walk_nodes(page.body):
        style = dict(node.style)
        is_filled = _COLOUR.fullmatch(style.get("background", "")) and style.get("border", "0") == "0"
        if node.tag == "button" and is_filled and style["background"] != "#ffffff":
            pairs[style["background"], style.get("color", "")] += 1
    return pairs.most_common(1)[0][0] if pairs else ("", "")


def _with_ui(markup: str, primary: tuple[str, str]) -> str:
    """Write buttons and fields as components. What these would add to the look of the page is taken back."""

    def button(match: re.Match[str]) -> str:
        words = match["classes"].split()
        variant = "ghost"
        if primary[0] and f"bg-[{primary[0]}]" in words:
            variant = ""
            words.remove(f"bg-[{primary[0]}]")
            words = [word for word in words if word not in _colour_words("text", primary[1])]
        elif any(word.startswith("border") for word in words) and "border-0" not in words:
            variant = "outline"
        elif any(word.startswith("bg-") for word in words):
            variant = "secondary"
        chosen = f' variant="{variant}"' if variant else ""
        words = [*_missing(words, {"h-": "h-auto", "p": "p-0", "rounded": "rounded-none"}), *words]
        return f'<Button{chosen} className="{" ".join(words)}"'

    def field(match: re.Match[str]) -> str:
        if _OTHER_FIELDS.search(match["rest"]):
            return match[0]
        words = match["classes"].split()
        absent = {"h-": "h-auto", "p": "p-0", "rounded": "rounded-none", "border": "border-0"}
        words = [*_missing(words, absent), *words]
        return f'<{match["tag"].capitalize()} className="{" ".join(words)}"{match["rest"]}'

    markup = _CARD.sub(_card, _FIELD.sub(field, _BUTTON.sub(button, markup)))
    for tag in ("button", "textarea"):
        if f"<{tag}" not in markup:
            markup = markup.replace(f"</{tag}>", f"</{tag.capitalize()}>")
    return markup


def _mark_cards(node: Node) -> Node:
    """Return an element with the boxes in it, and itself if it is one, as cards."""
    children = tuple(_mark_cards(child) for child in node.children)
    style = dict(node.style)
    has_edge = style.get("border", "0") != "0" or "box-shadow" in style
    is_box = has_edge and "background" in style and "border-radius" in style
    is_card = is_box and node.tag in ("div", "article") and len(children) >= _FEWEST_PARTS
    return replace(node, tag="Card" if is_card else node.tag, children=children)


def _write_element(node: Node, width: int, depth: int, repeats: Repeats | None) -> str:
    return JSX.element(_mark_cards(node), width, depth, repeats)


def _card(match: re.Match[str]) -> str:
    words = match["classes"].split()
    absent = {"gap": "gap-0", "p": "p-0", "rounded": "rounded-none", "border": "border-0", "shadow": "shadow-none"}
    words = [*_missing(words, absent), *words]
    if not {"flex", "grid"} & set(words):
        words.insert(0, "block")
    elif "flex" in words and "flex-col" not in words:
        words.append("flex-row")
    return f'<Card className="{" ".join(words)}"'


def _missing(words: Sequence[str], absent: dict[str, str]) -> list[str]:
    """Return the classes that undo those of a component which the element does not set itself."""
    patterns = {"p": re.compile(r"p[xytblr]?-.*"), "h-": re.compile(r"h-.*")}
    undone: list[str] = []
    for start, class_name in absent.items():
        pattern = patterns.get(start) or re.compile(rf"{start}(?:-.*)?")
        matches = [word for word in words if pattern.fullmatch(word)]
        if start == "p" or not matches:
            undone.append(class_name)
    return undone


def _colour_words(kind: str, colour: str) -> tuple[str, ...]:
    names = {"#ffffff": "white", "#000000": "black"}
    return f"{kind}-[{colour}]", f"{kind}-{names.get(colour, colour)}"


def _ui_imports(markup: str) -> list[str]:
    names = [name for name in _UI_NAMES if f"<{name} " in markup]
    return [f'import {{ {name} }} from "@/{_UI}{name.lower()}";' for name in names]


def _typed(text: str) -> str:
    """Write attributes with the names and types that React declares."""
    text = _LOWER.sub(lambda match: f" {_CAMEL[match['name']]}", text)
    return _FLAGS.sub(r"\g<name>", _NUMBERS.sub(r"\g<name>={\g<value>}", text))


def _layout(page: Page) -> str:
    direction = ' dir="rtl"' if page.is_leftward else ""
    return f"""import type {{ Metadata }} from "next";
import type {{ ReactNode }} from "react";

import "./globals.css";

export const metadata: Metadata = {{
  title: {json.dumps(page.title, ensure_ascii=False)},
}};

export default function RootLayout({{ children }}: {{ children: ReactNode }}) {{
  return (
    <html lang="{page.language}"{direction}>
      <body>{{children}}</body>
    </html>
  );
}}
"""


def _role(name: str, value: str, primary: str) -> str:
    """Return the variable of shadcn/ui for a colour of the page; one that has no role there keeps its name."""
    if name == "accent":
        return "primary" if value == (primary or value) else "brand"
    return _ROLES.get(name) or (f"page-{name}" if name in _COLOURS else name)


def _styles(page: Page, theme: Theme, primary: tuple[str, str]) -> str:
    """Write the style sheet: the variables of shadcn/ui in the colours of the page, and the theme."""
    background, ink = (dict(page.style).get(name, "") for name in ("background", "color"))
    seen = {"background": background, "foreground": ink, "primary": primary[0], "primary-foreground": primary[1]}
    roles = {name: value for value, name in theme.colours.items() if name in _COLOURS}
    colours = _COLOURS | {name: value for name, value in seen.items() if _COLOUR.fullmatch(value)} | roles
    declared = "\n".join(f"  --{name}: {value};" for name, value in colours.items())
    mapped = "\n".join(f"  --color-{name}: var(--{name});" for name in colours)
    mapped += "".join(f"\n  --radius-{name}: {value};" for name, value in _RADII.items())
    others = replace(theme, colours={value: name for value, name in theme.colours.items() if name not in _COLOURS})
    return f"{others.css}\n:root {{\n{declared}\n  --radius: 0.5rem;\n}}\n\n@theme inline {{\n{mapped}\n}}\n"
