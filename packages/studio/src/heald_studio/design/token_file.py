"""Design tokens in JSON: the format of the W3C community group, and that of Tokens Studio for Figma."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from json import loads
from typing import cast

from heald.core.lazy import lazy_pattern
from heald_studio.design.token import DesignToken, TokenKind, as_colour, classify, is_length, make_token

TOKEN_FILE = lazy_pattern(
    r"(?:^|/)(?:[\w.-]*tokens?[\w.-]*\.json|(?:[\w-]*tokens?[\w-]*)/(?:[\w-]+/)*[\w.-]+\.json)$", re.IGNORECASE
)
_ALIAS = lazy_pattern(r"\{([^{}]+)\}")
_KINDS: dict[str, TokenKind] = {
    "color": "color", "fontfamily": "font", "fontfamilies": "font", "fontsize": "size", "fontsizes": "size",
    "spacing": "space", "space": "space", "borderradius": "radius", "radius": "radius",
}  # fmt: skip
_MAX_TOKENS = 2_000
_MAX_DEPTH = 12
_MAX_TEXT = 400

JsonGroup = Mapping[str, object]
TokenNodes = Mapping[str, tuple[str, object]]
"""The type and the value of each token, by its path."""


def read_token_file(text: str) -> list[DesignToken]:
    """Read the tokens of a JSON text; none if it is not one of design tokens."""
    try:
        data: object = loads(text)
    except (ValueError, RecursionError):
        return []
    return tokens_of(cast(JsonGroup, data)) if isinstance(data, dict) else []


def tokens_of(data: JsonGroup) -> list[DesignToken]:
    """Return the tokens of groups of design tokens."""
    listed = dict(islice(_token_nodes(data, (), ""), _MAX_TOKENS))
    # In Figma the name of a set may be left out of an alias.
    nodes = {**{path.partition(".")[2]: node for path, node in reversed(listed.items())}, **listed}
    tokens: list[DesignToken] = []
    for path, (kind, value) in listed.items():
        mode = "dark" if any(part.lower() == "dark" for part in path.split(".")) else ""
        tokens += _token(path, kind, _resolved(value, nodes), mode, nodes)
    return tokens


def _token_nodes(group: JsonGroup, names: tuple[str, ...], inherited: str) -> Iterator[tuple[str, tuple[str, object]]]:
    kind = str(group.get("$type") or inherited)
    for key, child in group.items():
        if key.startswith("$") or not isinstance(child, dict) or len(names) > _MAX_DEPTH:
            continue
        node = cast(JsonGroup, child)
        path = (*names, key)
        value = node.get(
            "$value", node.get("value") if "type" in node or not isinstance(node.get("value"), dict) else None
        )
        if value is not None:
            yield ".".join(path), (str(node.get("$type") or node.get("type") or kind), value)
        else:
            yield from _token_nodes(node, path, kind)


def _resolved(value: object, nodes: TokenNodes) -> object:
    """Return a value with aliases such as {color.brand} replaced, also inside of a text."""
    value = _followed(value, nodes)
    if not isinstance(value, str) or "{" not in value or len(value) > _MAX_TEXT:
        return value
    return _ALIAS.sub(lambda alias: _text(_followed(alias[0], nodes)) or alias[0], value)


def _followed(value: object, nodes: TokenNodes) -> object:
    """Return what an alias stands for at last."""
    for _ in range(_MAX_DEPTH):
        whole = _ALIAS.fullmatch(value) if isinstance(value, str) else None
        if whole is None:
            break
        value = nodes.get(whole[1].strip(), ("", None))[1]
    return value


def _token(path: str, kind: str, value: object, mode: str, nodes: TokenNodes) -> Iterator[DesignToken]:
    if kind.lower() == "typography" and isinstance(value, dict):
        parts = cast(JsonGroup, value)
        for part, part_kind in (("fontFamily", "fontFamily"), ("fontSize", "fontSize")):
            if part in parts:
                yield from _token(f"{path}.{part}", part_kind, _resolved(parts[part], nodes), mode, nodes)
        return
    text = _text(value)
    if not text:
        return
    token_kind = _KINDS.get(kind.lower().replace("-", ""))
    if token_kind in ("size", "space", "radius") and text.replace(".", "", 1).isdigit():
        text += "px"
    if token_kind == "color":
        colour = as_colour(text)
        if colour is not None:
            yield make_token("color", path, colour, mode)
    elif token_kind == "font" or (token_kind is not None and is_length(text)):
        yield make_token(token_kind, path, text, mode)
    elif token_kind is None and kind.lower() in ("", "dimension", "sizing", "other", "number"):
        if text.replace(".", "", 1).isdigit():
            text += "px"
        named = classify(path, text)
        if named is not None:
            yield make_token(named[0], path, named[1], mode)


def _text(value: object) -> str:
    """Return a value as CSS: a text, a number, a list of families, a dimension or a colour with its parts."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    if isinstance(value, list):
        families = [_text(item) for item in cast("list[object]", value)]
        return ", ".join(family for family in families if family)
    if isinstance(value, dict):
        parts = cast(JsonGroup, value)
        if "unit" in parts and isinstance(parts.get("value"), int | float):
            return f"{_text(parts['value'])}{parts['unit']}"
        if isinstance(parts.get("hex"), str):
            return str(parts["hex"])
        if "components" in parts and "colorSpace" in parts:
            numbers = [_text(item) or "none" for item in cast("list[object]", parts["components"])]
            space = str(parts["colorSpace"])
            if space in ("hsl", "hwb"):
                numbers = [numbers[0], *(f"{number}%" for number in numbers[1:])]
            is_function = space in ("hsl", "hwb", "lab", "lch", "oklab", "oklch")
            return f"{space}({' '.join(numbers)})" if is_function else f"color({space} {' '.join(numbers)})"
    return ""
