"""Writes a page as components of Svelte or Astro: HTML in which braces hold expressions."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from heald.core.markup import VOID_ELEMENTS
from heald_local.page import Node, Page
from heald_local.write.icons import REACT_ICON, write_template_icon
from heald_local.write.jsx import PUBLIC, ComponentWriter, MarkupLanguage, vite_shell
from heald_local.write.repeats import Repeat, Repeats, slot_name
from heald_local.write.sheet import is_inline
from heald_local.write.tailwind import classes, page_classes
from heald_local.write.theme import read_theme, rename_classes

_ASSETS = '"assets/'  # the start of a picture's address


@dataclass(frozen=True, slots=True)
class _Framework:
    """What differs between the two: endings, the head of a component, and a loop."""

    ending: str
    script: str
    """The ending of a file with data."""
    head: Callable[[Sequence[str], Sequence[str]], str]
    loop: Callable[[Repeat], str]


def _svelte_head(imports: Sequence[str], slots: Sequence[str]) -> str:
    lines = [*imports, *([""] if imports and slots else [])]
    lines += [f"let {{ {', '.join(slots)} }} = $props();"] if slots else []
    inside = "\n".join(f"  {line}" if line else "" for line in lines)
    return f"<script>\n{inside}\n</script>\n\n" if lines else ""


def _astro_head(imports: Sequence[str], slots: Sequence[str]) -> str:
    lines = [*imports, *([""] if imports and slots else [])]
    if slots:
        lines += ["interface Props {", *(f"  {slot}: string;" for slot in slots), "}", ""]
        lines.append(f"const {{ {', '.join(slots)} }} = Astro.props;")
    inside = "\n".join(lines)
    return f"---\n{inside}\n---\n\n" if lines else ""


_SVELTE = _Framework(
    ".svelte",
    ".js",
    _svelte_head,
    lambda repeat: f"{{#each {repeat.data} as each}}<{repeat.name} {{...each}} />{{/each}}",
)
_ASTRO = _Framework(
    ".astro", ".ts", _astro_head, lambda repeat: f"{{{repeat.data}.map((each) => <{repeat.name} {{...each}} />)}}"
)


def write_svelte(page: Page) -> dict[str, str | bytes]:
    """Write a project of Vite: each component in a file of `src/components`, the data of lists in `src/data`."""
    made = ComponentWriter(page, _language(_SVELTE))
    files = _component_files(made, _SVELTE)
    head = _svelte_head(_page_imports(made, _SVELTE, "./"), ())
    files["src/App.svelte"] = f'{head}<div class="{_class_list(page_classes(page))}">\n{_outdent(made.body)}\n</div>\n'
    return {
        **_name_values(page, files, "src/index.css"),
        **{f"{PUBLIC}{path}": data for path, data in page.assets},
        "index.html": vite_shell(page, "app", "/src/main.js"),
    }


def write_astro(page: Page) -> dict[str, str | bytes]:
    """Write a project of Astro: a page in its layout, components in `src/components`, data in `src/data`."""
    made = ComponentWriter(page, _language(_ASTRO), reserved_names=("Layout",))
    files = _component_files(made, _ASTRO)
    imports = ['import Layout from "../layouts/Layout.astro";', *_page_imports(made, _ASTRO, "../")]
    title = f"title={{{json.dumps(page.title, ensure_ascii=False)}}}"
    body = f'  <div class="{_class_list(page_classes(page))}">\n{_outdent(made.body, 2)}\n  </div>'
    files["src/pages/index.astro"] = f"{_astro_head(imports, ())}<Layout {title}>\n{body}\n</Layout>\n"
    files = {path: text.replace(_ASSETS, '"/assets/') for path, text in files.items()}
    return {
        **_name_values(page, files, "src/styles/global.css"),
        **{f"{PUBLIC}{path}": data for path, data in page.assets},
        "src/layouts/Layout.astro": _layout(page),
    }


def _component_files(made: ComponentWriter, framework: _Framework) -> dict[str, str]:
    files: dict[str, str] = {}
    if made.icons.paths:
        typed = ": Record<string, string>" if framework is _ASTRO else ""
        files[f"src/data/icons{framework.script}"] = f"export const ICONS{typed} = {{\n{made.icons.entries(2)}}};\n"
        files[f"src/components/Icon{framework.ending}"] = write_template_icon(framework.ending)
    for part in made.components:
        imports = _imports(part.markup, part.lists, framework, "./", "../")
        files[f"src/components/{part.name}{framework.ending}"] = _component(framework, part.markup, imports)
    for repeat in made.all_lists:
        markup = made.item(repeat)
        imports = _imports(markup, (), framework, "./", "../")
        files[f"src/data/{repeat.data}{framework.script}"] = f"export const {repeat.data} = [\n{repeat.entries(2)}];\n"
        files[f"src/components/{repeat.name}{framework.ending}"] = _component(framework, markup, imports, repeat.slots)
    return files


def _component(framework: _Framework, markup: str, imports: Sequence[str], slots: Sequence[str] = ()) -> str:
    return f"{framework.head(imports, slots)}{_outdent(markup, 0)}\n"


def _page_imports(made: ComponentWriter, framework: _Framework, up: str) -> list[str]:
    imports = [f'import {part.name} from "{up}components/{part.name}{framework.ending}";' for part in made.components]
    return [*imports, *_imports(made.body, made.lists, framework, f"{up}components/", up)]


def _imports(markup: str, lists: Sequence[Repeat], framework: _Framework, components: str, up: str) -> list[str]:
    icon = [f'import Icon from "{components}Icon{framework.ending}";'] if "<Icon " in markup else []
    parts = [f'import {repeat.name} from "{components}{repeat.name}{framework.ending}";' for repeat in lists]
    script = ".js" if framework.script == ".js" else ""
    data = [f'import {{ {repeat.data} }} from "{up}data/{repeat.data}{script}";' for repeat in lists]
    return [*icon, *parts, *data]


def _name_values(page: Page, files: dict[str, str], sheet: str) -> dict[str, str]:
    """Return the files with the names of a theme in their classes, and the style sheet that declares it."""
    theme = read_theme(page, files.values())
    return {**{path: rename_classes(text, theme) for path, text in files.items()}, sheet: theme.css}


def _layout(page: Page) -> str:
    direction = ' dir="rtl"' if page.is_leftward else ""
    return f"""---
import "../styles/global.css";

interface Props {{
  title: string;
}}

const {{ title }} = Astro.props;
---

<!doctype html>
<html lang="{page.language}"{direction}>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>{{title}}</title>
  </head>
  <body>
    <slot />
  </body>
</html>
"""


def _outdent(markup: str, depth: int = 1) -> str:
    """Return markup that begins at a depth; components write theirs at the depth of a function's result."""
    lines = markup.split("\n")
    least = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(f"{'  ' * depth}{line[least:]}" if line.strip() else line for line in lines)


def _language(framework: _Framework) -> MarkupLanguage:
    def write(node: Node, width: int, depth: int, repeats: Repeats | None) -> str:
        pad = "  " * depth
        if not node.tag:
            return "".join(_text(line) for line in node.lines)
        opening = f"{pad}{_opening(node, width)}"
        if node.tag in VOID_ELEMENTS or node.tag == REACT_ICON:
            return f"{opening} />"
        words = "<br />".join(_text(line) for line in node.lines)
        if not node.children:
            return f"{opening}>{words}</{node.tag}>"
        if is_inline(node):
            return f"{opening}>{''.join(write(child, width, 0, None) for child in node.children)}</{node.tag}>"
        inside: list[str] = []
        for group in repeats.find(node.children) if repeats is not None else [(child,) for child in node.children]:
            if repeats is not None and len(group) > 1:
                inside.append("  " * (depth + 1) + framework.loop(repeats.note(group)))
            else:
                inside += [write(child, width, depth + 1, repeats) for child in group]
        return f"{opening}>{words}\n" + "\n".join(inside) + f"\n{pad}</{node.tag}>"

    return MarkupLanguage(_opening, write)


def _opening(node: Node, width: int) -> str:
    names = classes(node, width)
    attributes = f' class="{_class_list(names)}"' if names else ""
    for name, value in node.attributes:
        attributes += f" {name}{_value(value)}"
    return f"<{node.tag}{attributes}"


def _class_list(names: str) -> str:
    """Write classes as they are, because Tailwind reads them from the source: an ampersand stays one."""
    return names.replace('"', "&quot;")


def _value(value: str) -> str:
    if name := slot_name(value):
        return f"={{{name}}}"
    if not value:
        return '=""'
    return (
        f"={{{json.dumps(value, ensure_ascii=False)}}}"
        if any(sign in value for sign in '{}"')
        else f'="{escape(value)}"'
    )


def _text(text: str) -> str:
    """Write a text between tags; one with braces or signs of markup is an expression."""
    if name := slot_name(text):
        return f"{{{name}}}"
    if any(sign in text for sign in "{}<>&\\`"):
        return "{" + json.dumps(text, ensure_ascii=False).replace("<", "\\u003c") + "}"
    return text
