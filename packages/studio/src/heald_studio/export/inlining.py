"""Puts styles, scripts and pictures into a page: as text, or as data: URLs."""

import re
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import urljoin

from heald.core.lazy import lazy_pattern
from heald_studio.browser.page import PageResponse

GetUrl = Callable[[str], PageResponse | None]  # the response at an address, None if there is none

_URL = lazy_pattern(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]+))\s*\)""")
_IMPORT = lazy_pattern(r"""@import\s+(?:url\(\s*)?(?:"([^"]+)"|'([^']+)'|([^"'()\s;]+))\s*\)?([^;@]{0,500});""")
_END_SCRIPT = lazy_pattern(r"<(?=/script|!--|script)", re.IGNORECASE)
_END_STYLE = lazy_pattern(r"</(?=style)", re.IGNORECASE)
LITERAL_SCHEMES = ("data:", "#", "blob:", "about:", "mailto:", "javascript:")
_DEPTH = 8


def encode_data_url(answer: PageResponse) -> str:
    kind = answer.type.replace("; ", ";")
    return f"data:{kind};base64,{b64encode(answer.body).decode()}"


def inline_url(address: str, base: str, get: GetUrl) -> str | None:
    """Convert an address to a data URL; None if it is one already or cannot be resolved."""
    address = address.strip()
    if not address or address.lower().startswith(LITERAL_SCHEMES):
        return None
    where, mark, fragment = address.partition("#")
    answer = get(join_url(base, where))
    return None if answer is None else encode_data_url(answer) + mark + fragment


def inline_styles(css: str, base: str, get: GetUrl, depth: int = 0) -> str:
    """Inline the imports and addresses of a style sheet."""

    def imported(match: re.Match[str]) -> str:
        target = join_url(base, match[1] or match[2] or match[3])
        answer = get(target) if depth < _DEPTH else None
        if answer is None or not answer.type.startswith("text/css"):
            return match[0]
        inner = inline_styles(answer.body.decode("utf-8", "replace"), target, get, depth + 1)
        media = match[4].strip()
        return f"@media {media}{{{inner}}}" if media else inner

    def address(match: re.Match[str]) -> str:
        data = inline_url(match[1] or match[2] or match[3] or "", base, get)
        return match[0] if data is None else f'url("{data}")'

    return _URL.sub(address, _IMPORT.sub(imported, css))


def escape_style(css: str) -> str:
    return _END_STYLE.sub(r"<\\/", css)


def escape_script(code: str) -> str:
    """Escape code for a script element: `<` becomes `\\x3c` before an element or comment, in strings too."""
    return _END_SCRIPT.sub(r"\\x3c", code)


def join_url(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
