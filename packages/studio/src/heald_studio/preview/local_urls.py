"""Points the addresses of a page at this machine: those of CDNs, and those that begin with a slash."""

import re
from html import escape

from heald.core.lazy import lazy_pattern
from heald.core.markup import StartTag, start_tags
from heald_studio.cdn.addresses import HOSTS

LIBRARY_PATH = "_libraries/"  # below this path of a preview lie the libraries: `_libraries/<host>/<path>`

_HOSTS = "|".join(re.escape(host) for host in HOSTS)
_ADDRESS = lazy_pattern(rf"(?:https?:)?//(?P<host>{_HOSTS})(?=[/?#\"'\s)&>;]|$)(?P<slash>/?)", re.IGNORECASE)
_TAG = lazy_pattern(r"<(?:script|link)\b[^<>]*>", re.IGNORECASE)
_INTEGRITY = lazy_pattern(
    r"""\s(?:integrity|crossorigin|nonce)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?""", re.IGNORECASE
)
_ROOTED = ("href", "src", "poster", "data")


def localise_urls(text: str, base: str) -> str:
    """Point every address of a CDN below `base`, without its integrity hash: the local version may differ."""

    def local(match: re.Match[str]) -> str:
        return f"{base}{LIBRARY_PATH}{match['host'].lower()}{match['slash']}"

    def tag(match: re.Match[str]) -> str:
        return _INTEGRITY.sub("", match[0]) if _ADDRESS.search(match[0]) else match[0]

    return _ADDRESS.sub(local, _TAG.sub(tag, text))


def localise_rooted(page: str, base: str) -> str:
    """Point addresses that begin at the root, such as `/about.html`, below `base`. Modules are found by their path."""
    if base == "/":
        return page
    out: list[str] = []
    done = 0
    for tag in start_tags(page):
        if is_module_script(tag):
            continue
        for key, start, end in tag.spans:
            address = tag.attributes.get(key) or ""
            if key not in _ROOTED or not address.startswith("/") or address.startswith(("//", base)):
                continue
            out += [page[done:start], f'{key}="{escape(base + address[1:])}"']
            done = end
    return "".join([*out, page[done:]])


def is_module_script(tag: StartTag) -> bool:
    """Whether the script loads a module of the project."""
    source = tag.attributes.get("src") or ""
    local = not source.startswith(("http://", "https://", "//", "data:"))
    return tag.name == "script" and tag.attributes.get("type") == "module" and bool(source) and local and tag.close > 0
