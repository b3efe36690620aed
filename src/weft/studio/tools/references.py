"""Pictures that the files of a project show: the addresses of them, and the same files with other addresses.

Looking is linear in the text: every pattern has one way to match.
"""

import re
from collections.abc import Mapping
from html import unescape
from posixpath import dirname, relpath

from weft.studio.tools.assets import reference

_WRITTEN = (".html", ".htm", ".css", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".json", ".svg", ".vue")
_DATA = re.compile(
    r"data:image/(?:png|jpe?g|webp|gif|avif|heic)(?:;[a-z0-9=-]{1,40}){0,3},[A-Za-z0-9+/=%]{16,}", re.IGNORECASE
)
_END = r"[^\s\"'`<>(){}\\]{1,2000}"
_TAGGED = re.compile(
    rf"<(?:img|source|image|video|input)\b[^<>]{{0,4000}}?\s(?:src|poster|href|xlink:href)\s*=\s*[\"'](?P<url>https?://{_END})[\"']",
    re.IGNORECASE,
)
_STYLED = re.compile(rf"url\(\s*[\"']?(?P<url>https?://{_END})[\"']?\s*\)", re.IGNORECASE)
_QUOTED = re.compile(
    rf"[\"'`](?P<url>https?://{_END}?\.(?:png|jpe?g|webp|gif|avif)(?:\?[^\s\"'`<>(){{}}\\]{{0,500}})?)[\"'`]",
    re.IGNORECASE,
)
_AFTER = r"(?=[\s\"'`<>(){}\\,;]|$)"
_NO_PICTURE = (".js", ".mjs", ".css", ".woff", ".woff2", ".ttf", ".otf", ".eot", ".json", ".html", ".mp4", ".webm")
MAX_TEXT = 8_000_000


def written(files: Mapping[str, bytes]) -> dict[str, str]:
    """The files that are text and may show pictures."""
    found: dict[str, str] = {}
    for path, data in files.items():
        if not path.lower().endswith(_WRITTEN) or len(data) > MAX_TEXT:
            continue
        try:
            found[path] = data.decode()
        except UnicodeDecodeError:
            continue
    return found


def shown_in(text: str) -> list[str]:
    """The addresses of pictures in a text as they stand there, `data:` and `http(s):`, each once."""
    found = [match[0] for match in _DATA.finditer(text)]
    for pattern in (_TAGGED, _STYLED, _QUOTED):
        found += [match["url"] for match in pattern.finditer(text)]
    return [url for url in dict.fromkeys(found) if not _plain(url).lower().endswith(_NO_PICTURE)]


def address(url: str) -> str:
    """An address as a browser reads it out of the text."""
    return unescape(url) if url[:4].lower() == "http" else url


def replaced(path: str, text: str, places: Mapping[str, str]) -> str:
    """The text of a file with files of the project in place of addresses, as seen from that file."""
    for url, place in places.items():
        new = _seen_from(path, place)
        text = re.sub(re.escape(url) + _AFTER, lambda _, new=new: new, text)
    return text


def _seen_from(path: str, place: str) -> str:
    """A style sheet's addresses are relative to itself, all others to the page."""
    if place.startswith("public/"):
        return reference(place)
    if path.lower().endswith((".css", ".html", ".htm", ".svg")):
        return relpath(place, dirname(path) or ".")
    return place


def _plain(url: str) -> str:
    return url.partition("?")[0].partition("#")[0]
