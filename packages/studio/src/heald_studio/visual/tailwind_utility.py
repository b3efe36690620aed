"""Tailwind's utilities: which CSS properties a class sets, and which class sets a value."""

import re

from heald.core.lazy import lazy_pattern
from heald_studio.visual.cannot_edit import CannotEdit

SIDES = ("top", "right", "bottom", "left")
SPACINGS = frozenset(
    [
        "0",
        "px",
        "0.5",
        "1",
        "1.5",
        "2",
        "2.5",
        "3",
        "3.5",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "11",
        "12",
        "14",
        "16",
        "20",
        "24",
        "28",
        "32",
        "36",
        "40",
        "44",
        "48",
        "52",
        "56",
        "60",
        "64",
        "72",
        "80",
        "96",
    ]
)
FONT_SIZES = {
    "12": "xs", "14": "sm", "16": "base", "18": "lg", "20": "xl", "24": "2xl", "30": "3xl", "36": "4xl", "48": "5xl",
    "60": "6xl", "72": "7xl", "96": "8xl", "128": "9xl",
}  # fmt: skip
_FONT_WEIGHTS = {
    "100": "thin", "200": "extralight", "300": "light", "400": "normal", "500": "medium", "600": "semibold",
    "700": "bold", "800": "extrabold", "900": "black",
}  # fmt: skip
RADII = {
    "0": "none", "2": "sm", "4": "", "6": "md", "8": "lg", "12": "xl", "16": "2xl", "24": "3xl", "9999": "full",
}  # fmt: skip
_LINE_HEIGHTS = {"1": "none", "1.25": "tight", "1.375": "snug", "1.5": "normal", "1.625": "relaxed", "2": "loose"}
_ALIGNMENTS = ("left", "center", "right", "justify", "start", "end")
_TEXT_SIZES = frozenset(FONT_SIZES.values())
_NOT_COLOURS = {
    "text": frozenset(["wrap", "nowrap", "balance", "pretty", "ellipsis", "clip"]),
    "bg": frozenset(
        [
            "fixed",
            "local",
            "scroll",
            "bottom",
            "center",
            "left",
            "right",
            "top",
            "repeat",
            "no-repeat",
            "repeat-x",
            "repeat-y",
            "repeat-round",
            "repeat-space",
            "auto",
            "cover",
            "contain",
            "none",
        ]
    ),
}
_LENGTH = lazy_pattern(r"(?P<minus>-?)(?P<number>\d+(?:\.\d+)?)(?P<unit>px|rem)")
_ARBITRARY = lazy_pattern(r"\[(?:(?P<hint>color|length|family-name|size|url|image|position|number):)?(?P<value>.+)\]")
_COLOUR_VALUE = lazy_pattern(r"#|rgba?\(|hsla?\(|oklch\(|oklab\(|color|[a-z]+$|var\(", re.IGNORECASE)
_LENGTH_VALUE = lazy_pattern(r"-?[\d.]|clamp\(|calc\(|min\(|max\(")
_THEME = lazy_pattern(r"theme\(\s*(?:colors|fontFamily)\.(?P<name>[\w.-]+)\s*\)")
_VARIABLE = lazy_pattern(r"var\(\s*--(?P<kind>color|font)-(?P<name>[\w-]+)\s*\)")
_SPACE_KINDS = {"p": "padding", "m": "margin"}
_SIDE_LETTERS = {
    "t": ("top",),
    "r": ("right",),
    "b": ("bottom",),
    "l": ("left",),
    "x": ("left", "right"),
    "y": ("top", "bottom"),
}
_PLAIN = {
    "w": "width", "h": "height", "max-w": "max-width", "max-h": "max-height",
    "min-w": "min-width", "min-h": "min-height", "leading": "line-height",
    "tracking": "letter-spacing", "opacity": "opacity",
}  # fmt: skip
_SPACE_UTILITY = lazy_pattern(r"(?P<kind>[pm])(?P<side>[trblxy]?)-(?P<value>.+)")
_GAP_UTILITY = lazy_pattern(r"gap-(?:(?P<axis>[xy])-)?(?P<value>.+)")


def properties_of(utility: str) -> frozenset[str]:
    """Return the properties that a utility sets, of those that can be edited; empty for others."""
    utility = utility.removeprefix("-")
    if (space := _SPACE_UTILITY.fullmatch(utility)) is not None:
        sides = _SIDE_LETTERS.get(space["side"], SIDES)
        return frozenset(f"{_SPACE_KINDS[space['kind']]}-{side}" for side in sides)
    if (gap := _GAP_UTILITY.fullmatch(utility)) is not None:
        axes = {"x": ("column-gap",), "y": ("row-gap",)}
        return frozenset(axes.get(gap["axis"] or "", ("column-gap", "row-gap")))
    if utility == "rounded" or (utility.startswith("rounded-") and not _is_corner(utility)):
        return frozenset({"border-radius"})
    if (declared := _ARBITRARY.fullmatch(utility)) is not None:
        return frozenset({declared["value"].partition(":")[0]})
    name, _, value = utility.partition("-")
    match name:
        case "text":
            return frozenset({_text_property(value)} - {""})
        case "bg":
            return frozenset({"background-color"} if _is_colour("bg", value) else ())
        case "font":
            return frozenset({_font_property(value)})
        case _:
            prefix, _, last = utility.rpartition("-")
            plain = _PLAIN.get(prefix) or (_PLAIN.get(name) if name in _PLAIN and not last.startswith("[") else None)
            if plain is None and (opened := utility.find("-[")) > 0:
                plain = _PLAIN.get(utility[:opened])
            return frozenset({plain} if plain is not None else ())


def utility_for(property_name: str, value: str) -> str:
    """Return the utility that gives a property a value. Spaces are those of one side; see `class_list`."""
    kind, _, side = property_name.partition("-")
    if kind in ("padding", "margin"):
        return space_utility(kind, (side,), value)
    match property_name:
        case "gap" | "row-gap" | "column-gap":
            return f"{ {'gap': 'gap', 'row-gap': 'gap-y', 'column-gap': 'gap-x'}[property_name] }-{_spacing(value)}"
        case "color":
            return f"text-{_colour(value)}"
        case "background-color":
            return f"bg-{_colour(value)}"
        case "font-size":
            step = FONT_SIZES.get(_pixels(value))
            return f"text-{step}" if step is not None else f"text-{_arbitrary(value, 'length')}"
        case "font-weight":
            weight = {"normal": "400", "bold": "700"}.get(value, value)
            return f"font-{_FONT_WEIGHTS.get(weight) or _arbitrary(value)}"
        case "font-family":
            return f"font-{_theme_name(value, 'font') or _family(value)}"
        case "text-align":
            return f"text-{value}" if value in _ALIGNMENTS else f"[text-align:{_spaceless(value)}]"
        case "border-radius":
            step = RADII.get(_pixels(value))
            return ("rounded" + (f"-{step}" if step else "")) if step is not None else f"rounded-{_arbitrary(value)}"
        case "line-height":
            return f"leading-{_LINE_HEIGHTS.get(value) or _spacing(value)}"
        case "letter-spacing":
            return f"tracking-{_arbitrary(value)}"
        case "opacity":
            percent = _percent(value)
            return f"opacity-{percent}" if percent else f"opacity-{_arbitrary(value)}"
        case "width" | "height" | "max-width" | "max-height" | "min-width" | "min-height":
            prefix = next(prefix for prefix, name in _PLAIN.items() if name == property_name)
            keyword = {"100%": "full", "auto": "auto", "none": "none"}.get(value)
            return f"{prefix}-{keyword or _spacing(value)}"
        case _:
            return f"[{property_name}:{_spaceless(value)}]"


def space_utility(kind: str, sides: tuple[str, ...], value: str) -> str:
    """Return the utility of a padding or margin at some sides: all, one, or two opposite ones."""
    letter = next((letter for letter, names in _SIDE_LETTERS.items() if set(names) == set(sides)), "")
    minus = "-" if value.startswith("-") else ""
    step = "auto" if value == "auto" else _spacing(value.removeprefix("-"))
    return f"{minus}{kind[0]}{letter}-{step}"


def _text_property(value: str) -> str:
    if value in _ALIGNMENTS:
        return "text-align"
    if value.partition("/")[0] in _TEXT_SIZES:
        return "font-size"
    if (arbitrary := _ARBITRARY.match(value)) is not None:
        if arbitrary["hint"] in ("length", "size"):
            return "font-size"
        return "font-size" if arbitrary["hint"] is None and _LENGTH_VALUE.match(arbitrary["value"]) else "color"
    return "color" if _is_colour("text", value) else ""


def _font_property(value: str) -> str:
    if value in _FONT_WEIGHTS.values():
        return "font-weight"
    arbitrary = _ARBITRARY.fullmatch(value)
    return "font-weight" if arbitrary is not None and arbitrary["value"].isdecimal() else "font-family"


def _is_colour(name: str, value: str) -> bool:
    if (arbitrary := _ARBITRARY.match(value)) is not None:
        if arbitrary["hint"] is not None:
            return arbitrary["hint"] == "color"
        return _COLOUR_VALUE.match(arbitrary["value"]) is not None and not arbitrary["value"].startswith("url")
    return (
        bool(value)
        and value not in _NOT_COLOURS[name]
        and not value.startswith(
            ("gradient-", "opacity-", "blend-", "clip-", "origin-", "linear-", "radial-", "conic-", "shadow-")
        )
    )


def _is_corner(utility: str) -> bool:
    return utility.split("-")[1] in ("t", "r", "b", "l", "s", "e", "tl", "tr", "bl", "br", "ss", "se", "es", "ee")


def _colour(value: str) -> str:
    if (name := _theme_name(value, "color")) is not None:
        return name
    if value in ("transparent", "white", "black"):
        return value
    return _arbitrary(value.lower() if value.startswith("#") else value, "color" if value.startswith("var(") else "")


def _theme_name(value: str, kind: str) -> str | None:
    """Return the name of a token of the theme: `theme(colors.brand.500)`, or `var(--color-brand-500)`."""
    if (theme := _THEME.fullmatch(value)) is not None:
        return theme["name"].replace(".", "-").removesuffix("-DEFAULT")
    variable = _VARIABLE.fullmatch(value)
    return variable["name"] if variable is not None and variable["kind"] == kind else None


def _family(value: str) -> str:
    generic = {
        "sans-serif": "sans",
        "serif": "serif",
        "monospace": "mono",
        "ui-sans-serif": "sans",
        "ui-monospace": "mono",
    }
    return generic.get(value) or _arbitrary(value)


def _spacing(value: str) -> str:
    """Return a length as a step of the scale, else as an arbitrary value."""
    pixels = _pixels(value)
    if not pixels:
        return _arbitrary(value)
    step = "px" if pixels == "1" else f"{float(pixels) / 4:g}"
    return step if step in SPACINGS else _arbitrary(value)


def _pixels(value: str) -> str:
    """Return a length in pixels without its unit; empty if it is not one."""
    if value == "0":
        return "0"
    length = _LENGTH.fullmatch(value)
    if length is None:
        return ""
    return f"{float(length['number']) * (16 if length['unit'] == 'rem' else 1):g}"


def _percent(value: str) -> str:
    try:
        percent = f"{float(value) * 100:g}"
    except ValueError:
        return ""
    return percent if percent.isdecimal() and int(percent) % 5 == 0 else ""


def _arbitrary(value: str, hint: str = "") -> str:
    hint = hint if value.startswith("var(") or hint == "color" else ""
    return f"[{hint + ':' if hint else ''}{_spaceless(value)}]"


def _spaceless(value: str) -> str:
    if "[" in value or "]" in value:
        raise CannotEdit("That is not a value of a style; write it as in CSS, without brackets.")
    return re.sub(r"\s+", "_", re.sub(r"\s*,\s*", ",", value.strip()))
