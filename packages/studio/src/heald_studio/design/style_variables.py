"""The variables of style sheets: CSS custom properties of the root, Tailwind's `@theme`, and variables of Sass."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from heald.core.lazy import lazy_pattern
from heald_studio.design.token import DesignToken, TokenKind, classify, is_length, make_token, split_commas

_COMMENT = lazy_pattern(r"/\*.*?(?:\*/|$)", re.DOTALL)
_LINE_COMMENT = lazy_pattern(r"(?<![:\w\"'])//[^\n]*")
_PART = lazy_pattern(r"\"(?:[^\"\\\n]|\\.)*+\"?|'(?:[^'\\\n]|\\.)*+'?|url\([^()\n]*\)|#\{[^}]*\}|[{};]", re.IGNORECASE)
_DECLARATION = lazy_pattern(r"\s*(?P<name>--[\w-]+|\$[\w-]+|[a-zA-Z-]+)\s*:(?P<value>.*)", re.DOTALL)
_REFERENCE = lazy_pattern(r"var\(\s*(--[\w-]+)\s*(?:,((?:[^()]|\((?:[^()]|\([^()]*\))*\))*))?\)|(\$[\w-]+)")
_ROOT = lazy_pattern(r"(?:^|,)\s*(?::(?:where|is)\(\s*)?(?::root|html|:host|body|\*)(?![\w-])")
_DARK = lazy_pattern(r"(?<![\w-])dark(?![\w-])|prefers-color-scheme:\s*dark", re.IGNORECASE)
_LIGHT = lazy_pattern(r"(?<![\w-])(?:light|default)(?![\w-])|prefers-color-scheme:\s*light", re.IGNORECASE)
_UNCONDITIONAL = lazy_pattern(
    r"@media\s*(?:only\s+)?(?:screen|all)?(?:\s*and\s*)?(?:\(\s*prefers-color-scheme:\s*dark\s*\))?", re.IGNORECASE
)
_PRINT = lazy_pattern(r"@media\s+(?:only\s+)?(?:print|speech)\b[^,]*", re.IGNORECASE)
_LIGHT_DARK = lazy_pattern(r"light-dark\((.*)\)", re.IGNORECASE | re.DOTALL)
_THEMED = lazy_pattern(r"^(?:\.|\[data-|:root|html|body)[\w.:='\"\[\]() -]*$")
_THEME_KINDS: dict[str, TokenKind] = {
    "color": "color", "font": "font", "text": "size", "spacing": "space", "radius": "radius",
}  # fmt: skip
_IGNORED = ("--tw-", "--default-")
_MAX_DEPTH = 8
_MAX_VALUE = 2_000
_MAX_BLOCKS = 20
TAILWIND = lazy_pattern(r"@tailwind\s+(?:base|utilities)|@import\s+[\"']tailwindcss|@use\s+[\"']tailwindcss")


class StyleVariables:
    """The variables of a project's style sheets by mode: the usual one is empty."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, str]] = {"": {}, "dark": {}}
        self.theme: set[str] = set()
        """The variables of `@theme`, which make utilities of Tailwind."""

    def add(self, name: str, value: str, mode: str = "") -> None:
        if len(value) <= _MAX_VALUE:
            self.values.setdefault(mode, {}).setdefault(name, " ".join(value.split()))

    def resolve(self, value: str, mode: str = "") -> str:
        """Return a value with its variables replaced; those that are not known stay."""
        scope = {**self.values[""], **self.values.get(mode, {})}

        def replace(reference: re.Match[str]) -> str:
            replacement = scope.get(reference[1] or reference[3])
            fallback = (reference[2] or "").strip()
            return replacement if replacement is not None else fallback or reference[0]

        for _ in range(_MAX_DEPTH):
            resolved = _REFERENCE.sub(replace, value)
            if resolved == value or len(resolved) > _MAX_VALUE:
                break
            value = resolved
        return value

    def resolve_modes(self, value: str) -> Iterator[tuple[str, str]]:
        """Yield a value in the usual mode, and in the others where it differs."""
        usual = self.resolve(value)
        yield "", usual
        for mode in self.values:
            if mode and (resolved := self.resolve(value, mode)) != usual:
                yield mode, resolved

    def tokens(self) -> Iterator[DesignToken]:
        """Yield the variables that are values of a design system."""
        for mode, variables in self.values.items():
            for name, value in variables.items():
                if name.endswith("-rgb") and name.removesuffix("-rgb") in variables:
                    continue  # the parts of a colour that has its own variable, as in Bootstrap
                resolved = self.resolve(value, mode).replace(" !default", "")
                kind = self._kind_of(name, resolved)
                if kind is not None:
                    yield make_token(kind[0], name, kind[1], mode)

    def _kind_of(self, name: str, value: str) -> tuple[TokenKind, str] | None:
        if name.startswith(_IGNORED) or "--" in name[2:]:  # such as --text-lg--line-height
            return None
        if name in self.theme:
            namespace = name[2:].partition("-")[0]
            kind = _THEME_KINDS.get(namespace)
            if kind is None or name.startswith("--font-weight"):
                return None
            usable = is_length(value) if kind in ("size", "space", "radius") else "var(" not in value
            if name == "--spacing" and usable:
                return "space", f"{value} and its multiples"
            if not usable or value == "initial":
                return None
            return classify(name, value) if kind == "color" else (kind, value)
        return classify(name, value)


def read_style_variables(sheets: Mapping[str, str], *, is_cascade: bool = False) -> StyleVariables:
    """Read the variables of style sheets by path; those of SCSS files include `$name`.

    The last value of a sheet is used; one of a media query, such as that of narrow windows, only if there is no other.
    Of several sheets the first one is used, or the last one if they are in the order of a page's cascade.
    """
    variables = StyleVariables()
    groups = [sheets] if is_cascade else [{path: text} for path, text in sheets.items()]
    for group in groups:
        values: dict[tuple[str, str], str] = {}
        for path, text in group.items():
            _read_values(values, text, variables, sass=path.endswith((".scss", ".sass", ".less")))
        for (mode, name), value in values.items():
            variables.add(name, value, mode)
    return variables


def _read_values(values: dict[tuple[str, str], str], text: str, variables: StyleVariables, *, sass: bool) -> None:
    """Read the variables of one sheet into values by mode and name."""
    for place, name, value in declarations(text, sass=sass):
        if name.startswith("$"):
            if not place:
                values.setdefault(("", name), value)
        elif name.startswith("--"):
            mode = _mode_of(place)
            if mode is None:
                continue
            is_conditional = any(_is_conditional(block) for block in place)
            for shade, part in _shades(value, mode):
                if is_conditional:
                    values.setdefault((shade, name), part)
                else:
                    values[shade, name] = part
            if any(block.startswith("@theme") for block in place):
                variables.theme.add(name)


def _shades(value: str, mode: str) -> Iterator[tuple[str, str]]:
    """Yield a value with its mode; that of `light-dark()` in both modes."""
    pair = _LIGHT_DARK.fullmatch(value)
    parts = list(split_commas(pair[1])) if pair else []
    if len(parts) != 2 or mode:
        yield mode, parts[1] if len(parts) == 2 else value
        return
    yield "", parts[0]
    yield "dark", parts[1]


def _is_conditional(block: str) -> bool:
    return block.startswith(("@media", "@supports", "@container")) and not _UNCONDITIONAL.fullmatch(block)


def is_printed(blocks: Iterable[str]) -> bool:
    """Whether rules hold for print or speech alone."""
    return any(_PRINT.fullmatch(block) for block in blocks)


def is_dark(blocks: Iterable[str]) -> bool:
    """Whether rules hold in dark mode alone."""
    return any(_DARK.search(block) and ":not(" not in block for block in blocks)


def without_comments(text: str) -> str:
    return _COMMENT.sub(" ", text)


def declarations(text: str, *, sass: bool = False) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield each declaration of a style sheet: the preludes of the blocks around it, its name and its value."""
    text = without_comments(text)
    if sass:
        text = _LINE_COMMENT.sub("", text)
    blocks: list[str] = []
    start = 0
    for part in _PART.finditer(text):
        if part[0] not in ("{", "}", ";"):
            continue
        words = text[start : part.start()]
        start = part.end()
        if part[0] == "{":
            blocks.append(" ".join(words.split()))
            continue
        declaration = _DECLARATION.fullmatch(words)
        if declaration is not None and declaration["value"].strip() and len(blocks) <= _MAX_BLOCKS:
            yield tuple(blocks), declaration["name"], declaration["value"].strip()
        if part[0] == "}" and blocks:
            blocks.pop()


def _mode_of(blocks: Sequence[str]) -> str | None:
    """Return the mode that the variables of a block hold in; None if they are not those of the whole page."""
    is_root = False
    if is_printed(blocks):
        return None
    for block in blocks:
        if block.startswith(("@theme", "@media", "@layer", "@supports", "@variant", "@custom-variant")):
            is_root = is_root or block.startswith("@theme")
        elif _ROOT.search(block) or (_THEMED.match(block) and (_DARK.search(block) or _LIGHT.search(block))):
            is_root = True
        else:
            return None
    if not is_root:
        return None
    return "dark" if is_dark(blocks) else ""
