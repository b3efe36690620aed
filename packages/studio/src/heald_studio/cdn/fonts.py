"""Answers addresses of font services with style sheets that name installed fonts."""

import re
from urllib.parse import parse_qsl, urlsplit

from heald.core.lazy import lazy_pattern

_SANS = ("Helvetica Neue", "Arial", "Liberation Sans", "Noto Sans", "DejaVu Sans")
_SERIF = ("Georgia", "Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif")
_MONO = ("Menlo", "Consolas", "Liberation Mono", "Noto Sans Mono", "DejaVu Sans Mono")
_SERIFS = lazy_pattern(
    r"serif(?<!sans serif)|slab|playfair|merriweather|lora|garamond|baskerville|bodoni|spectral|crimson|bitter|"
    r"cormorant|fraunces",
    re.IGNORECASE,
)
_MONOS = lazy_pattern(r"\bmono\b|\bcode\b|courier|inconsolata|consol", re.IGNORECASE)
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,60}")
_MAX_FAMILIES = 20


def font_css(url: str) -> str:
    """Build the style sheet for an address of a font service: the nearest local font for each family."""
    families: dict[str, None] = {}
    for key, value in parse_qsl(urlsplit(url).query, max_num_fields=200):
        if key == "family":
            families |= dict.fromkeys(part.partition(":")[0].strip() for part in value.split("|"))
    named = [family for family in families if _NAME.fullmatch(family)]
    styles = (("100 500", ""), ("600 900", " Bold"))
    return "".join(_face(family, *style) for family in named[:_MAX_FAMILIES] for style in styles)


def _face(family: str, weights: str, style: str) -> str:
    stack = _MONO if _MONOS.search(family) else _SERIF if _SERIFS.search(family) else _SANS
    sources = ",".join(f'local("{name}{style}")' for name in (family, *stack))
    return f'@font-face{{font-family:"{family}";font-weight:{weights};font-display:swap;src:{sources}}}\n'
