"""Writes icons of a known set by their name in one component, which has their paths once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from heald_local.page import Node, Page, walk_nodes
from heald_pictures.elements import ICON_NAME

REACT_ICON, VUE_ICON = "Icon", "app-icon"
ICON_TAGS = frozenset({REACT_ICON, VUE_ICON})
_USUAL = {
    "viewBox": "0 0 24 24",
    "fill": "none",
    "stroke": "currentColor",
    "stroke-width": "2",
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
}
"""The attributes of the component where an icon has no others."""


@dataclass(frozen=True, slots=True)
class NamedIcons:
    """A page whose icons are elements with a name, and the paths by their names."""

    page: Page
    paths: Mapping[str, str]

    def entries(self, pad: int) -> str:
        """Return the paths as JavaScript, one on a line."""
        keys = {name: name if name.isidentifier() else json.dumps(name) for name in self.paths}
        return "".join(f"{' ' * pad}{keys[name]}: {json.dumps(data)},\n" for name, data in self.paths.items())


def name_icons(page: Page, tag: str) -> NamedIcons:
    """Replace each drawing of a known icon by an element of the component, with its name and what is unusual."""
    hidden = [node for node in page.body if node.tag == "svg" and node.name == "shapes"]
    defined = {dict(node.attributes).get("id", ""): node for node in walk_nodes(tuple(hidden))}
    paths: dict[str, str] = {}

    def visit(node: Node) -> Node:
        path = _find_path(node, defined)
        if path is None:
            return replace(node, children=tuple(visit(child) for child in node.children))
        name = _choose_name(dict(node.attributes)[ICON_NAME], path["d"], paths)
        paths[name] = path["d"]
        return replace(node, tag=tag, attributes=(("name", name), *_unusual(node, path)), children=())

    body = tuple(visit(node) for node in page.body if node not in hidden)
    return NamedIcons(replace(page, body=(*_still_used(hidden, body), *body)), paths)


def write_react_icon() -> str:
    """Return the body of the React component, without its name."""
    names = {name: "".join(_capitalised(name)) for name in _USUAL}
    usual = " ".join(f'{names[name]}="{value}"' for name, value in _USUAL.items())
    return f"""({{ name, ...props }}) {{
  const hidden = props["aria-label"] ? undefined : true;
  return (
    <svg {usual} aria-hidden={{hidden}} {{...props}}>
      <path d={{ICONS[name]}} />
    </svg>
  );
}}"""


def write_template_icon(ending: str) -> str:
    """Return the file of the component for Svelte or Astro."""
    usual = " ".join(f'{name}="{value}"' for name, value in _USUAL.items())
    head = 'import { ICONS } from "../data/icons.js";\n\n  let { name, ...props } = $props();'
    start, end = "<script>\n  ", "\n</script>"
    if ending == ".astro":
        head = 'import { ICONS } from "../data/icons";\n\nconst { name, ...props } = Astro.props;'
        start, end = "---\n", "\n---"
    hidden = 'props["aria-label"] ? undefined : "true"'
    return f"""{start}{head}{end}

<svg {usual} aria-hidden={{{hidden}}} {{...props}}>
  <path d={{ICONS[name]}} />
</svg>
"""


def write_vue_icon() -> str:
    """Return the options of the Vue component."""
    usual = " ".join(f'{name}="{value}"' for name, value in _USUAL.items() if name != "viewBox")
    usual += """ :aria-hidden="$attrs['aria-label'] ? null : true\""""
    return f"""{{
  props: {{ name: String, view: {{ type: String, default: "{_USUAL["viewBox"]}" }} }},
  data: () => ({{ icons }}),
  template: `<svg :viewBox="view" {usual}><path :d="icons[name]" /></svg>`,
}}"""


def _capitalised(name: str) -> list[str]:
    first, *rest = name.split("-")
    return [first, *(word.capitalize() for word in rest)]


def _find_path(node: Node, defined: Mapping[str, Node]) -> dict[str, str] | None:
    """Return the attributes of the only path of a known icon; None for everything else."""
    if node.tag != "svg" or ICON_NAME not in dict(node.attributes) or len(node.children) != 1:
        return None
    child, attributes = node.children[0], dict[str, str]()
    while child.tag == "use":
        target = defined.get(dict(child.attributes).get("href", "").removeprefix("#"))
        attributes |= dict(child.attributes)
        if target is None:
            return None
        child = target
    attributes |= dict(child.attributes)
    drawn = {name: value for name, value in attributes.items() if name not in ("id", "href")}
    return drawn if child.tag == "path" and set(drawn) <= {"d", "fill-rule"} and "d" in drawn else None


def _choose_name(preferred: str, data: str, paths: Mapping[str, str]) -> str:
    """Return the name of an icon; one of another set with the same name gets a number."""
    name, number = preferred, 1
    while paths.get(name, data) != data:
        number += 1
        name = f"{preferred}-{number}"
    return name


def _unusual(node: Node, path: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    attributes = {name: value for name, value in node.attributes if name not in (ICON_NAME, "aria-hidden")}
    attributes.setdefault("stroke", "none")
    attributes |= {"fill-rule": path["fill-rule"]} if "fill-rule" in path else {}
    return tuple((name, value) for name, value in attributes.items() if _USUAL.get(name) != value)


def _still_used(hidden: list[Node], body: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the hidden drawing with what the page, or the rest of the drawing, still refers to."""
    if not hidden:
        return ()
    shapes = hidden[0].children
    while True:
        refers = {
            dict(node.attributes).get("href", "")[1:] for node in walk_nodes((*shapes, *body)) if node.tag == "use"
        }
        referenced = tuple(shape for shape in shapes if dict(shape.attributes).get("id", "") in refers)
        if referenced == shapes:
            return (replace(hidden[0], children=referenced),) if referenced else ()
        shapes = referenced
