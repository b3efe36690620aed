"""Files as text inside a page: as data URLs, as styles, as scripts that nothing in them can end early."""

import re
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import urljoin

from weft.studio.browser.serving import Answer

Get = Callable[[str], Answer | None]
"""What stands at an address, None if nothing does."""

_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]+))\s*\)""")
_IMPORT = re.compile(r"""@import\s+(?:url\(\s*)?(?:"([^"]+)"|'([^']+)'|([^"'()\s;]+))\s*\)?([^;@]{0,500});""")
_END_SCRIPT = re.compile(r"<(?=/script|!--|script)", re.IGNORECASE)
_END_STYLE = re.compile(r"</(?=style)", re.IGNORECASE)
_KEPT = ("data:", "#", "blob:", "about:", "mailto:", "javascript:")
_DEPTH = 8


def data_address(answer: Answer) -> str:
    kind = answer.type.replace("; ", ";")
    return f"data:{kind};base64,{b64encode(answer.body).decode()}"


def inlined(address: str, base: str, get: Get) -> str | None:
    """An address as a data URL; None if it is one already, or nothing is there."""
    address = address.strip()
    if not address or address.lower().startswith(_KEPT):
        return None
    where, mark, fragment = address.partition("#")
    answer = get(_joined(base, where))
    return None if answer is None else data_address(answer) + mark + fragment


def style_text(css: str, base: str, get: Get, depth: int = 0) -> str:
    """A style sheet with everything that it names inside it."""

    def imported(found: re.Match[str]) -> str:
        target = _joined(base, found[1] or found[2] or found[3])
        answer = get(target) if depth < _DEPTH else None
        if answer is None or not answer.type.startswith("text/css"):
            return found[0]
        inner = style_text(answer.body.decode("utf-8", "replace"), target, get, depth + 1)
        media = found[4].strip()
        return f"@media {media}{{{inner}}}" if media else inner

    def address(found: re.Match[str]) -> str:
        data = inlined(found[1] or found[2] or found[3] or "", base, get)
        return found[0] if data is None else f'url("{data}")'

    return _URL.sub(address, _IMPORT.sub(imported, css))


def safe_style(css: str) -> str:
    return _END_STYLE.sub(r"<\\/", css)


def safe_script(code: str) -> str:
    """Code that a script element can hold: `<` as `\\x3c` where an element or comment would begin, in strings alike."""
    return _END_SCRIPT.sub(r"\\x3c", code)


def _joined(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
