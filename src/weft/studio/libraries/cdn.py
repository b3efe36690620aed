"""Addresses of CDNs: which package, version and file each one means. Versions may be anything."""

import re
from urllib.parse import unquote, urlsplit

import msgspec

HOSTS = (
    "cdn.jsdelivr.net",
    "cdn.tailwindcss.com",
    "cdnjs.cloudflare.com",
    "esm.run",
    "esm.sh",
    "maxcdn.bootstrapcdn.com",
    "netdna.bootstrapcdn.com",
    "stackpath.bootstrapcdn.com",
    "unpkg.com",
    "use.fontawesome.com",
)

_NPM = re.compile(r"(?P<name>(?:@[a-z0-9._-]+/)?[a-z0-9._-]+)(?:@(?P<version>[^/]*))?(?:/(?P<path>.*))?", re.IGNORECASE)
_VERSIONED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)/(?P<version>[^/]+)/(?P<path>.+)")
_FONT_AWESOME = "@fortawesome/fontawesome-free"

_CDNJS = {
    "babel-standalone": ("@babel/standalone", ""),
    "bootstrap": ("bootstrap", "dist/"),
    "bootstrap-icons": ("bootstrap-icons", ""),
    "chart.js": ("chart.js", "dist/"),
    "font-awesome": (_FONT_AWESOME, ""),
    "ionicons": ("ionicons", "dist/"),
    "react": ("react", ""),
    "react-dom": ("react-dom", ""),
    "vue": ("vue", "dist/"),
}
"""A library of cdnjs: its npm package, and where its files lie there."""


class Address(msgspec.Struct, frozen=True):
    """What an address asks for. `module` wants it as an ES module, whatever form the package has."""

    name: str
    version: str = ""
    path: str = ""
    module: bool = False
    up: str = "./"
    """From this address to where the CDN's packages lie, as a relative address."""
    suffix: str = ""
    """What this CDN puts behind a package's name when a module of it is wanted."""


def address(url: str) -> Address | None:
    """The package that a CDN's address means, None if it is no such address."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return None
    path = unquote(parts.path).lstrip("/")
    match host:
        case "cdn.tailwindcss.com":
            return Address("tailwindcss-cdn", "3", "tailwindcss-with-all-plugins.js" if parts.query else "")
        case "cdn.jsdelivr.net":
            return _npm(path.removeprefix("npm/"), depth=1) if path.startswith("npm/") else None
        case "unpkg.com":
            return _npm(path, module="module" in parts.query)
        case "esm.sh" | "esm.run":
            return _npm(path, module=True)
        case "cdnjs.cloudflare.com":
            return _versioned(path.removeprefix("ajax/libs/"))
        case "use.fontawesome.com":
            return Address(_FONT_AWESOME, path=_VERSIONED.sub(r"\g<path>", path))
        case "maxcdn.bootstrapcdn.com" | "netdna.bootstrapcdn.com" | "stackpath.bootstrapcdn.com":
            return _versioned(path)
        case _:
            return None


def _npm(text: str, *, module: bool = False, depth: int = 0) -> Address | None:
    found = _NPM.fullmatch(text)
    if found is None:
        return None
    path = (found["path"] or "").rstrip("/")
    suffix = "/+esm" if depth else ""
    if depth and (path == "+esm" or path.endswith("/+esm")):
        module, path = True, path.removesuffix("+esm").rstrip("/")
    up = "../" * text.count("/") or "./"
    return Address(found["name"], found["version"] or "", path, module, up, suffix)


def _versioned(text: str) -> Address | None:
    found = _VERSIONED.fullmatch(text)
    if found is None:
        return None
    name, folder = _CDNJS.get(found["name"].lower(), ("", ""))
    if not name:
        return None
    path = found["path"].replace("font-awesome.", "all.") if name == _FONT_AWESOME else found["path"]
    return Address(name, found["version"], folder + path)
