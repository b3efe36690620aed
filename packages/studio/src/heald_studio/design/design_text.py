"""A design system as text: writes `design.md` from what was read, and reads the tokens of one that a person changed.

Each token is a line of a list below the heading of its kind. Everything else is for the models alone.
"""

import re
from collections.abc import Iterable, Sequence

from heald.core.lazy import lazy_pattern
from heald_studio.design.component import DesignComponent
from heald_studio.design.reading import DesignReading
from heald_studio.design.style_variables import read_style_variables
from heald_studio.design.token import DesignToken, TokenKind, as_colour, make_token
from heald_studio.design.token_file import read_token_file

MAX_WRITTEN = 12_000
"""Characters that are written at most: about 3,000 tokens of a prompt."""
_STEPS = (
    *((400, 120, True), (400, 80, True), (250, 60, True), (250, 80, False), (180, 60, False)),
    *((120, 60, False), (60, 40, False), (24, 40, False)),
)
"""How many tokens of a kind and components are written, and whether with props, until the text is short enough."""
HEADINGS: dict[TokenKind, str] = {
    "color": "Colours",
    "font": "Fonts",
    "size": "Font sizes",
    "space": "Spacing",
    "radius": "Radii",
}
_WORDS: tuple[tuple[TokenKind, str], ...] = (
    ("color", r"colou?r|palette"),
    ("radius", r"radi|rounded|corner"),
    ("space", r"spac|padding|margin"),
    ("size", r"size|scale|typograph"),
    ("font", r"font|famil"),
)
_LINE = lazy_pattern(r"\s*[-*]\s+`(?P<name>[^`]+)`(?:\s*\((?P<mode>[\w -]+)\))?\s*:\s*(?P<value>.+?)\s*")
_HEADING = lazy_pattern(r"#{1,6}\s+(?P<text>.+?)\s*")
_HEX = lazy_pattern(r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b")
_DECLARED = lazy_pattern(r"(?m)^[ \t]*(--[\w-]+)[ \t]*:([^;\n]+);?[ \t]*$")


def write_design(reading: DesignReading, limit: int = MAX_WRITTEN) -> str:
    """Write a design system as `design.md`, at most `limit` characters: the least important lines are left out."""
    text = ""
    for most_tokens, most_components, with_props in _STEPS:
        text = _written(reading, most_tokens, most_components, with_props=with_props)
        if len(text) <= limit:
            return text
    return text[:limit].rpartition("\n")[0] + "\n"


def _written(reading: DesignReading, most_tokens: int, most_components: int, *, with_props: bool) -> str:
    parts = [f"# {reading.name}"]
    if reading.sources:
        parts.append(f"Read from {_listed(reading.sources, 8)}.")
    for kind, heading in HEADINGS.items():
        tokens = [token for token in reading.tokens if token.kind == kind]
        if tokens:
            lines = [_token_line(token) for token in tokens[:most_tokens]]
            parts.append(_section(heading, lines, len(tokens)))
    if reading.components:
        lines = [
            _component_line(component, with_props=with_props) for component in reading.components[:most_components]
        ]
        parts.append(_section("Components", lines, len(reading.components)))
    return "\n\n".join(parts) + "\n"


def _section(heading: str, lines: Sequence[str], count: int) -> str:
    more = [f"- … and {count - len(lines)} more"] if count > len(lines) else []
    return "\n".join([f"## {heading}", "", *lines, *more])


def _token_line(token: DesignToken) -> str:
    mode = f" ({token.mode})" if token.mode else ""
    return f"- `{token.name.replace('`', '')}`{mode}: {token.value}"


def _component_line(component: DesignComponent, *, with_props: bool) -> str:
    line = f"- `{component.name}` ({component.file})"
    if not with_props:
        return line
    props = [f"{prop.name} ({' | '.join(prop.values)})" if prop.values else prop.name for prop in component.props]
    line += f": {', '.join(props)}" if props else ""
    return line + (f"; stories: {', '.join(component.stories)}" if component.stories else "")


def _listed(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"`{name}`" for name in names[:most]) + more


def read_design(text: str) -> list[DesignToken]:
    """Read the tokens of a design system's text: of the lists of `design.md`, of CSS variables, or of a JSON file."""
    if text.lstrip().startswith("{"):
        return read_token_file(text)
    kind: TokenKind | None = None
    tokens: list[DesignToken] = []
    for line in text.splitlines():
        if heading := _HEADING.fullmatch(line):
            kind = _kind_of(heading["text"])
        elif kind is not None and (entry := _LINE.fullmatch(line)):
            tokens.append(make_token(kind, entry["name"], entry["value"], (entry["mode"] or "").strip().lower()))
    return tokens or _loose_tokens(text)


def _loose_tokens(text: str) -> list[DesignToken]:
    """Read the tokens of a text without lists: variables of CSS, also outside of a rule, and colours in its words."""
    declared = "".join(f"{name}: {value};" for name, value in _DECLARED.findall(text))
    sheet = text if "{" in text else f":root {{ {declared} }}"
    tokens = list(read_style_variables({"design.css": sheet}).tokens())
    if not any(token.kind == "color" for token in tokens):
        colours = dict.fromkeys(_HEX.findall(text))
        tokens += [make_token("color", colour, colour) for colour in colours if as_colour(colour)]
    return tokens


def _kind_of(heading: str) -> TokenKind | None:
    return next((kind for kind, words in _WORDS if re.search(words, heading, re.IGNORECASE)), None)


def tokens_by_kind(tokens: Iterable[DesignToken]) -> dict[TokenKind, list[DesignToken]]:
    """Return the tokens of each kind that there is one of."""
    result: dict[TokenKind, list[DesignToken]] = {}
    for token in tokens:
        result.setdefault(token.kind, []).append(token)
    return result
