"""Removes from a page the frames and refreshes that lead to other hosts.

The policy of a preview forbids both, but Chromium connects to the host of a navigation before it applies the policy:
the host learns that the page was opened, and a name server learns the name. What remains is inert markup:
`data-src` instead of `src`. Scripts can still start a navigation; see docs/security.md.
"""

import re
from html import escape, unescape

from heald.core.lazy import lazy_pattern

_ATTRIBUTES = r"(?:[^>\"']|\"[^\"]*\"|'[^']*')*"
_FRAME = lazy_pattern(rf"<i?frame\b{_ATTRIBUTES}>", re.IGNORECASE)
_META = lazy_pattern(rf"<meta\b{_ATTRIBUTES}>", re.IGNORECASE)
_VALUE = r"\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))"
_SOURCE = lazy_pattern(rf"(?<=[\s\"'/])(src|srcdoc){_VALUE}", re.IGNORECASE)
_REFRESH = lazy_pattern(r"(?<=[\s\"'/])http-equiv(?=\s*=\s*[\"']?\s*refresh\b)", re.IGNORECASE)
_CONTENT = lazy_pattern(rf"(?<=[\s\"'/])content{_VALUE}", re.IGNORECASE)
_URL_OF_REFRESH = lazy_pattern(r"^[^;,]*[;,]?\s*(?:url\s*=)?\s*[\"']?", re.IGNORECASE)
_SCHEME = lazy_pattern(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_INERT_SCHEMES = ("about:", "blob:", "data:", "javascript:")
_MOST_NESTED = 8


def remove_remote_frames(page: str, *, nested: int = 0) -> str:
    """Return a page whose frames and refreshes stay below its own address."""
    page = _FRAME.sub(lambda frame: _SOURCE.sub(lambda source: _inert_source(source, nested), frame[0]), page)
    return _META.sub(lambda meta: _inert_refresh(meta[0]), page)


def is_remote(address: str) -> bool:
    """Return whether a browser would leave the server for an address, which may be written in any of its ways."""
    address = re.sub(r"[\t\n\r]", "", unescape(address)).lstrip("".join(map(chr, range(33)))).replace("\\", "/")
    if address.startswith("//"):
        return True
    return _SCHEME.match(address) is not None and not address.lower().startswith(_INERT_SCHEMES)


def _inert_source(source: re.Match[str], nested: int) -> str:
    value = source[2] or source[3] or source[4] or ""
    if source[1].lower() == "src":
        return f"data-{source[0]}" if is_remote(value) else source[0]
    if nested >= _MOST_NESTED:
        return f"data-{source[0]}"
    return f'{source[1]}="{escape(remove_remote_frames(unescape(value), nested=nested + 1))}"'


def _inert_refresh(meta: str) -> str:
    content = _CONTENT.search(meta)
    if content is None or _REFRESH.search(meta) is None:
        return meta
    address = _URL_OF_REFRESH.sub("", unescape(content[1] or content[2] or content[3] or ""))
    return _REFRESH.sub("data-http-equiv", meta) if is_remote(address) else meta
