"""Answers addresses of CDNs, font services and placeholder images from this machine."""

from urllib.parse import urlsplit

from heald_studio.browser.page import PageResponse, media_type
from heald_studio.cdn.addresses import FONT_HOSTS, PLACEHOLDER_HOSTS, PackageAddress, parse_address
from heald_studio.cdn.fonts import font_css
from heald_studio.cdn.packages import MODULE_FILES, find_file, read_file, reexport_module, wrap_commonjs
from heald_studio.cdn.placeholders import placeholder

_WARNINGS = (
    (b'console.warn("cdn.tailwindcss.com should not be used in production', b'void("'),
    (b'console.warn("You are using the in-browser Babel transformer.', b'void("'),
)
"""Warnings of libraries that a CDN serves them, and the code that silences them: here no CDN does."""


def serve_library(url: str) -> PageResponse | None:
    """Return the vendored file, font or placeholder picture for an address; None if it has none."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return None
    if host in PLACEHOLDER_HOSTS:
        return _text("image/svg+xml", placeholder(url))
    if host in FONT_HOSTS:
        return _text("text/css", font_css(url))
    asked = parse_address(url)
    if asked is None:
        return None
    return _serve_module(asked) or _serve_file(asked)


def _serve_module(address: PackageAddress) -> PageResponse | None:
    if not address.module:
        return None
    file = MODULE_FILES.get((address.name, address.path))
    file_of_package = find_file(address.name, file or "", "19")
    if file is None or file_of_package is None:
        return _serve_native_module(address)
    if address.version:
        path = f"/{address.path}" if address.path else ""
        return _script(reexport_module(f"{address.up}{address.name}{path}{address.suffix}"))
    source = read_file(*file_of_package).decode()
    return _script(wrap_commonjs(source, address.name, address.up, address.suffix))


def _serve_native_module(address: PackageAddress) -> PageResponse | None:
    """Return a module that reexports the package's own ES module, which imports its other files."""
    main = {"vue": "dist/vue.esm-browser.prod.js", "ionicons": "dist/ionicons/ionicons.esm.js"}.get(address.name)
    main = "dist/ionic/ionic.esm.js" if address.name == "@ionic/core" else main
    if main is None or address.path:
        return None
    target = f"{address.up}{address.name}/{main}"
    return _script(f'export * from "{target}";\nimport * as all from "{target}";\nexport default all;\n')


def _serve_file(address: PackageAddress) -> PageResponse | None:
    name, path = address.name, address.path
    if name == "@ionic/core" and path.startswith("dist/ionic/svg/"):
        name, path = "ionicons", path.replace("dist/ionic/", "dist/ionicons/")
    file_of_package = find_file(name, path, address.version)
    if file_of_package is None:
        return None
    package, path = file_of_package
    data = read_file(package, path)
    for warning, quiet in _WARNINGS:
        data = data.replace(warning, quiet + warning.partition(b'"')[2])
    return PageResponse(200, media_type(path), data)


def _script(text: str) -> PageResponse:
    return _text("text/javascript", text)


def _text(kind: str, text: str) -> PageResponse:
    return PageResponse(200, f"{kind}; charset=utf-8", text.encode())
