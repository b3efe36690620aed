"""Web fonts without the web: a family that a page asks for becomes the nearest one that the machine has."""

import re
from urllib.parse import parse_qsl, urlsplit

HOSTS = ("fonts.bunny.net", "fonts.googleapis.com", "fonts.gstatic.com", "rsms.me")

_SANS = ("Helvetica Neue", "Arial", "Liberation Sans", "Noto Sans", "DejaVu Sans")
_SERIF = ("Georgia", "Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif")
_MONO = ("Menlo", "Consolas", "Liberation Mono", "Noto Sans Mono", "DejaVu Sans Mono")
_SERIFS = re.compile(
    r"serif(?<!sans serif)|slab|playfair|merriweather|lora|garamond|baskerville|bodoni|spectral|crimson|bitter|"
    r"cormorant|fraunces",
    re.IGNORECASE,
)
_MONOS = re.compile(r"\bmono\b|\bcode\b|courier|inconsolata|consol", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,60}")
_MAX_FAMILIES = 20


def font_css(url: str) -> str:
    """The style sheet for an address of a font service: each family it names, taken from this machine."""
    families: dict[str, None] = {}
    for key, value in parse_qsl(urlsplit(url).query, max_num_fields=200):
        if key == "family":
            families |= dict.fromkeys(part.partition(":")[0].strip() for part in value.split("|"))
    named = [family for family in families if _NAME.fullmatch(family)]
    return "".join(_faces(family) for family in named[:_MAX_FAMILIES])


def _faces(family: str) -> str:
    return _face(family, "100 500", "") + _face(family, "600 900", " Bold")


def _face(family: str, weights: str, style: str) -> str:
    stack = _MONO if _MONOS.search(family) else _SERIF if _SERIFS.search(family) else _SANS
    sources = ",".join(f'local("{name}{style}")' for name in (family, *stack))
    return f'@font-face{{font-family:"{family}";font-weight:{weights};font-display:swap;src:{sources}}}\n'
