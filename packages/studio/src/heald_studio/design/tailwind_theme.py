"""The theme of Tailwind: its configuration file, read without running it, and the scales that it has by default."""

from collections.abc import Iterator, Mapping

from heald.core.lazy import lazy_pattern
from heald_studio.design.script_value import ScriptExpression, ScriptFile, as_dict, as_list, text_of
from heald_studio.design.style_variables import StyleVariables
from heald_studio.design.token import DesignToken, TokenKind, as_colour, is_length, make_token
from heald_studio.visual.tailwind_utility import FONT_SIZES, RADII, SPACINGS

CONFIG = lazy_pattern(r"(?:^|/)tailwind(?:\.\w+)?\.config\.(?:js|cjs|mjs|ts|cts|mts)$")
_VARIABLE = lazy_pattern(r"--[\w-]+")
_SECTIONS: dict[str, TokenKind] = {
    "colors": "color", "fontFamily": "font", "fontSize": "size", "spacing": "space", "borderRadius": "radius",
}  # fmt: skip
DEFAULT_SCALE = "Tailwind's default scale"


class TailwindTheme:
    """What one configuration file says of colours, fonts, sizes, spacing and radii."""

    def __init__(self, files: Mapping[str, str], path: str, variables: StyleVariables) -> None:
        self.path = path
        self.replaced: set[TokenKind] = set()
        """The kinds whose default scale it replaces."""
        self.unread: list[str] = []
        """The parts that only running the file would tell."""
        self._variables = variables
        script = ScriptFile(files, path)
        config = as_dict(script.default)
        theme = as_dict(config.get("theme"))
        self.tokens = [*self._section_tokens(theme, is_base=True), *self._section_tokens(as_dict(theme.get("extend")))]
        if not config:
            self.unread.append("the whole file")
        if config.get("presets"):
            self.unread.append("presets")

    def _section_tokens(self, theme: Mapping[str, object], *, is_base: bool = False) -> Iterator[DesignToken]:
        for section, kind in _SECTIONS.items():
            if section not in theme:
                continue
            values = theme[section]
            if isinstance(values, ScriptExpression):
                self.unread.append(f"theme.{section}")
                continue
            if is_base:
                self.replaced.add(kind)
            for name, value in self._flatten(kind, values, ()):
                for mode, resolved in self._variables.resolve_modes(value):
                    token = _token(kind, name, resolved, mode)
                    if token is not None:
                        yield token

    def _flatten(self, kind: TokenKind, value: object, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        name = "-".join(part for part in names if part != "DEFAULT") or "default"
        if entries := as_dict(value):
            for key, child in entries.items():
                yield from self._flatten(kind, child, (*names, key))
        elif items := as_list(value):
            texts = [text for item in items if (text := text_of(item))]
            if texts:
                yield name, ", ".join(texts) if kind == "font" else texts[0]
        elif isinstance(value, ScriptExpression):
            variable = _VARIABLE.search(value.text)  # such as withOpacity("--primary")
            if variable is not None:
                yield name, f"var({variable[0]})"
            elif names:
                self.unread.append(".".join(names))
        elif text := text_of(value):
            yield name, text.replace("<alpha-value>", "1")


def _token(kind: TokenKind, name: str, value: str, mode: str) -> DesignToken | None:
    if kind == "color":
        colour = as_colour(value)
        return make_token(kind, name, colour, mode) if colour is not None and "var(" not in colour else None
    if kind == "font":
        token = make_token(kind, name, value, mode)
        return token if token.value else None
    return make_token(kind, name, value, mode) if is_length(value) and "var(" not in value else None


def default_scales(replaced: set[TokenKind], *, is_v4: bool) -> Iterator[DesignToken]:
    """Yield the scales of Tailwind that a project does not replace."""
    rem = [float(step) / 4 for step in SPACINGS if step != "px"]
    spacing = "0.25rem and its multiples" if is_v4 else ", ".join(["1px", *(f"{size:g}rem" for size in sorted(rem))])
    sizes = ", ".join(f"{int(pixels) / 16:g}rem" for pixels in FONT_SIZES)
    radii = ", ".join(f"{pixels}px" for pixels in RADII if pixels != "0")
    scales: tuple[tuple[TokenKind, str], ...] = (("space", spacing), ("size", sizes), ("radius", radii))
    for kind, value in scales:
        if kind not in replaced:
            yield make_token(kind, DEFAULT_SCALE, value)
