"""Addresses in the text of a page: those of CDNs are turned to where the preview serves the same thing."""

import re

from weft.studio.libraries.library import HOSTS

LIBRARIES = "_libraries/"
"""Below this path of a preview lie the libraries: `_libraries/<host>/<path>`."""

_HOSTS = "|".join(re.escape(host) for host in HOSTS)
_ADDRESS = re.compile(rf"(?:https?:)?//(?P<host>{_HOSTS})(?=[/?#\"'\s)&>;]|$)(?P<slash>/?)", re.IGNORECASE)
_TAG = re.compile(r"<(?:script|link)\b[^<>]*>", re.IGNORECASE)
_PROMISES = re.compile(r"""\s(?:integrity|crossorigin|nonce)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>"']+))?""", re.IGNORECASE)
_WRITTEN = (".css", ".htm", ".html", ".js", ".json", ".jsx", ".mjs", ".svg", ".ts", ".tsx")


def is_written(path: str) -> bool:
    """Whether a file of this name is text that may hold addresses."""
    return path.lower().endswith(_WRITTEN)


def localised(text: str, base: str) -> str:
    """The text with every address of a CDN below `base`, where the preview serves it.

    The hash that a tag expects is dropped with it: ours may be another version of the same library.
    """

    def turned(found: re.Match[str]) -> str:
        return f"{base}{LIBRARIES}{found['host'].lower()}{found['slash']}"

    def tag(found: re.Match[str]) -> str:
        text = found[0]
        return _PROMISES.sub("", text) if _ADDRESS.search(text) else text

    return _ADDRESS.sub(turned, _TAG.sub(tag, text))
