"""Addresses of CDNs: their hosts, and the package that an address names."""

import re
from urllib.parse import unquote, urlsplit

import msgspec

from heald.core.lazy import lazy_pattern

_BOOTSTRAP_HOSTS = ("maxcdn.bootstrapcdn.com", "netdna.bootstrapcdn.com", "stackpath.bootstrapcdn.com")
_ESM_HOSTS = ("esm.run", "esm.sh", "unpkg.com")
_OTHER_HOSTS = ("cdn.jsdelivr.net", "cdn.tailwindcss.com", "cdnjs.cloudflare.com", "use.fontawesome.com")
FONT_HOSTS = ("fonts.bunny.net", "fonts.googleapis.com", "fonts.gstatic.com", "rsms.me")
PHOTO_HOSTS = ("picsum.photos", "placekitten.com")
PLACEHOLDER_HOSTS = (*PHOTO_HOSTS, "dummyimage.com", "fakeimg.pl", "placehold.co", "via.placeholder.com")
HOSTS = (*_BOOTSTRAP_HOSTS, *_ESM_HOSTS, *_OTHER_HOSTS, *FONT_HOSTS, *PLACEHOLDER_HOSTS)
"""Every host whose addresses are answered here."""

_NPM = lazy_pattern(
    r"(?P<name>(?:@[a-z0-9._-]+/)?[a-z0-9._-]+)(?:@(?P<version>[^/]*))?(?:/(?P<path>.*))?", re.IGNORECASE
)
_VERSIONED = lazy_pattern(r"(?P<name>[A-Za-z0-9._-]+)/(?P<version>[^/]+)/(?P<path>.+)")
_FONT_AWESOME = "@fortawesome/fontawesome-free"

_CDNJS = {
    **{name: (name, "dist/") for name in ("bootstrap", "chart.js", "ionicons", "vue")},
    **{name: (name, "") for name in ("bootstrap-icons", "react", "react-dom")},
    "babel-standalone": ("@babel/standalone", ""),
    "font-awesome": (_FONT_AWESOME, ""),
}
"""A library of cdnjs: its npm package, and the folder of its files there."""


class PackageAddress(msgspec.Struct, frozen=True):
    """The package of an address. `module` asks for an ES module, whatever form the package has."""

    name: str
    version: str = ""
    path: str = ""
    module: bool = False
    up: str = "./"  # the relative address of the CDN's packages
    suffix: str = ""  # the end of the address of a package's module, after its name


def parse_address(url: str) -> PackageAddress | None:
    """Parse the address of a CDN; None if it is none."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    path = unquote(parts.path).lstrip("/")
    match host:
        case "cdn.tailwindcss.com":
            return PackageAddress("tailwindcss-cdn", "3", "tailwindcss-with-all-plugins.js" if parts.query else "")
        case "cdn.jsdelivr.net":
            return _parse_npm(path.removeprefix("npm/"), depth=1) if path.startswith("npm/") else None
        case "unpkg.com":
            return _parse_npm(path, module="module" in parts.query)
        case "esm.sh" | "esm.run":
            return _parse_npm(path, module=True)
        case "cdnjs.cloudflare.com":
            return _parse_versioned(path.removeprefix("ajax/libs/"))
        case "use.fontawesome.com":
            return PackageAddress(_FONT_AWESOME, path=_VERSIONED.sub(r"\g<path>", path))
        case _ if host in _BOOTSTRAP_HOSTS:
            return _parse_versioned(path)
        case _:
            return None


def _parse_npm(text: str, *, module: bool = False, depth: int = 0) -> PackageAddress | None:
    match = _NPM.fullmatch(text)
    if match is None:
        return None
    path = (match["path"] or "").rstrip("/")
    suffix = "/+esm" if depth else ""
    if depth and (path == "+esm" or path.endswith("/+esm")):
        module, path = True, path.removesuffix("+esm").rstrip("/")
    up = "../" * text.count("/") or "./"
    return PackageAddress(match["name"], match["version"] or "", path, module, up, suffix)


def _parse_versioned(text: str) -> PackageAddress | None:
    match = _VERSIONED.fullmatch(text)
    if match is None:
        return None
    name, folder = _CDNJS.get(match["name"].lower(), ("", ""))
    if not name:
        return None
    path = match["path"].replace("font-awesome.", "all.") if name == _FONT_AWESOME else match["path"]
    return PackageAddress(name, match["version"], folder + path)
