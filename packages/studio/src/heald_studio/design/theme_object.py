"""The values of theme files: objects that a script exports, such as `export const color = { primary: "#ff4785" }`."""

from collections.abc import Iterator, Mapping
from itertools import islice

from heald.core.lazy import lazy_pattern
from heald_studio.design.script_value import ScriptFile, as_dict
from heald_studio.design.token import DesignToken, classify, is_length, make_token
from heald_studio.design.token_file import tokens_of

THEME_FILE = lazy_pattern(
    r"(?:^|/)(?:[\w-]*[-.])?(?:theme|themes|tokens?|colou?rs?|palette|typography|spacing|styles?|variables)"
    r"(?:/index)?\.(?:ts|js|mjs|cjs)$"
)
_MAX_TOKENS = 400


def read_theme_object(files: Mapping[str, str], path: str) -> list[DesignToken]:
    """Read the tokens of a script's exported objects. A number is a length in pixels where its name asks for one."""
    script = ScriptFile(files, path)
    values = {**script.exported, **as_dict(script.default)}
    if "$value" in files.get(path, ""):
        return tokens_of(values)[:_MAX_TOKENS]
    return list(islice(_tokens(values, ()), _MAX_TOKENS))


def _tokens(value: object, names: tuple[str, ...]) -> Iterator[DesignToken]:
    if entries := as_dict(value):
        for key, child in entries.items():
            yield from _tokens(child, (*names, key))
        return
    path = ".".join(names)
    mode = "dark" if any(name.lower() == "dark" for name in names[:-1]) else ""
    if isinstance(value, str):
        kind = classify(path, value)
        if kind is None and any("font" in name.lower() or "type" in name.lower() for name in names) and "," in value:
            kind = ("font", value)
        if kind is not None:
            yield make_token(kind[0], path, kind[1], mode)
    elif isinstance(value, float) and 0 < value <= 400:
        kind = classify(path, f"{value:g}px")
        if kind is not None and is_length(kind[1]):
            yield make_token(kind[0], path, kind[1], mode)
