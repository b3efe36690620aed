"""Answers addresses of CDNs, font services and placeholder images from this machine, with the vendored npm packages of
`libraries/lock.json` and their files, also as ES modules.

`scripts/vendor_libraries.py` fetches a zip for each package; a wheel contains them. A path that a package only has in
another spelling (unminified, for development) is answered with the one that exists.
"""

import os
import re
import zipfile
import zlib
from collections.abc import Set
from functools import cache, lru_cache
from html import escape
from pathlib import Path
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import msgspec

from weft.core.errors import ConfigurationError
from weft.core.lazy import lazy_pattern
from weft.studio.browser.page import PageResponse, media_type

_FOLDER = Path(__file__).parent / "libraries"
VENDOR = _FOLDER / "vendor"
MISSING = "The libraries of previews are not installed; run scripts/vendor_libraries.py (make made) once."

_ZIP_HEADER = 30  # bytes before the name of a file, and the lengths of the name and of what follows it at their end
_DEVELOPMENT = lazy_pattern(r"[.-]development\b")
_EXPORT = lazy_pattern(r"^\s*exports\.([A-Za-z_$][\w$]*)\s*=(?!=)", re.MULTILINE)
_REQUIRE = lazy_pattern(r"""\brequire\((["'])([^"']+)\1\)""")
MODULE_FILES = {
    ("clsx", ""): "dist/clsx.js",
    ("lucide-react", ""): "dist/cjs/lucide-react.js",
    ("react", ""): "cjs/react.production.js",
    ("react", "jsx-runtime"): "cjs/react-jsx-runtime.production.js",
    ("react-dom", ""): "cjs/react-dom.production.js",
    ("react-dom", "client"): "cjs/react-dom-client.production.js",
    ("scheduler", ""): "cjs/scheduler.production.js",
}
"""The file behind each name that can be imported: package and sub-path."""
_EXPORTED_NAMES = {"clsx": ("clsx",)}  # packages whose exports cannot be parsed


class Package(msgspec.Struct, frozen=True):
    """One version of an npm package."""

    name: str
    version: str
    license: str
    main: str  # the file that its bare address means

    @property
    def archive(self) -> Path:
        return VENDOR / f"{self.name.replace('/', '__')}@{self.version}.zip"

    @property
    def files(self) -> Set[str]:
        """The paths of its files; none if it is not installed."""
        try:
            return _list_files(self.archive).keys()
        except FileNotFoundError:
            return frozenset[str]()

    @property
    def major(self) -> str:
        return self.version.partition(".")[0]


class _Lock(msgspec.Struct, frozen=True):
    packages: list[Package]


@cache
def packages() -> tuple[Package, ...]:
    """Return all packages of the lock, the newest version of each first."""
    lock = msgspec.json.decode((_FOLDER / "lock.json").read_bytes(), type=_Lock)
    return tuple(sorted(lock.packages, key=lambda each: (each.name, -int(each.major))))


def is_installed() -> bool:
    return all(package.archive.is_file() for package in packages())


def find_file(name: str, path: str, version: str = "") -> tuple[Package, str] | None:
    """Find a package that has a file, and the path of the file in it; the given major version is preferred."""
    known = [package for package in packages() if package.name == name]
    known.sort(key=lambda each: each.major != version.partition(".")[0].lstrip("^~v"))
    for package in known:
        files = package.files
        for spelling in _spellings(path or package.main):
            if spelling in files:
                return package, spelling
    return None


def read_file(package: Package, path: str) -> bytes:
    if path not in package.files:
        raise ConfigurationError(MISSING)
    return _read(package.archive, path)


def _spellings(path: str) -> list[str]:
    stem, dot, suffix = path.rpartition(".")
    stable = _DEVELOPMENT.sub(lambda found: found[0][0] + "production", path)
    spellings = [path, stable, f"{stem}.min{dot}{suffix}", f"{stem}.prod{dot}{suffix}"]
    spellings += [f"{stable.removesuffix('.js')}.min.js"] if stable.endswith(".js") else []
    return [*spellings, path.replace(".min.", ".")]


@cache
def _list_files(archive: Path) -> dict[str, zipfile.ZipInfo]:
    with zipfile.ZipFile(archive) as opened:
        return {info.filename: info for info in opened.infolist()}


@lru_cache(maxsize=64)
def _read(archive: Path, path: str) -> bytes:
    """Read a file at its place in the archive: to open that anew would read its list of a thousand files each time."""
    info = _list_files(archive)[path]
    with archive.open("rb") as opened:
        opened.seek(info.header_offset)
        header = opened.read(_ZIP_HEADER)
        opened.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
        packed = opened.read(info.compress_size)
    return packed if info.compress_type == zipfile.ZIP_STORED else zlib.decompress(packed, -zlib.MAX_WBITS)


def wrap_commonjs(source: str, name: str, up: str, suffix: str) -> str:
    """Wrap a CommonJS file as an ES module that imports its requirements from the packages beside it."""
    needs = list(dict.fromkeys(found[2] for found in _REQUIRE.finditer(source)))
    imports = "".join(f'import need{at} from "{up}{need}{suffix}";\n' for at, need in enumerate(needs))
    table = ",".join(f'"{need}":need{at}' for at, need in enumerate(needs))
    names = _EXPORTED_NAMES.get(name) or tuple(dict.fromkeys(_EXPORT.findall(source)))
    named = "".join(f",{each}" for each in names if each != "default")
    return (
        f"{imports}const needs={{{table}}};\n"
        "const module={exports:{}};\n"
        f"(function(module,exports,require){{{source}\n}})(module,module.exports,(name)=>needs[name]);\n"
        f"export default module.exports;\nexport const {{{named[1:]}}}=module.exports;\n"
    )


def reexport_module(target: str) -> str:
    """Make a module that exports everything of another one."""
    return f'export * from "{target}";\nexport {{default}} from "{target}";\n'


# --- addresses -------------------------------------------------------------------------------------------------------


_BOOTSTRAP_HOSTS = ("maxcdn.bootstrapcdn.com", "netdna.bootstrapcdn.com", "stackpath.bootstrapcdn.com")
_ESM_HOSTS = ("esm.run", "esm.sh", "unpkg.com")
_OTHER_HOSTS = ("cdn.jsdelivr.net", "cdn.tailwindcss.com", "cdnjs.cloudflare.com", "use.fontawesome.com")
FONT_HOSTS = ("fonts.bunny.net", "fonts.googleapis.com", "fonts.gstatic.com", "rsms.me")
_PHOTO_HOSTS = ("picsum.photos", "placekitten.com")
PLACEHOLDER_HOSTS = (*_PHOTO_HOSTS, "dummyimage.com", "fakeimg.pl", "placehold.co", "via.placeholder.com")
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
_SANS = ("Helvetica Neue", "Arial", "Liberation Sans", "Noto Sans", "DejaVu Sans")
_SERIF = ("Georgia", "Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif")
_MONO = ("Menlo", "Consolas", "Liberation Mono", "Noto Sans Mono", "DejaVu Sans Mono")
_SERIFS = lazy_pattern(
    r"serif(?<!sans serif)|slab|playfair|merriweather|lora|garamond|baskerville|bodoni|spectral|crimson|bitter|"
    r"cormorant|fraunces",
    re.IGNORECASE,
)
_MONOS = lazy_pattern(r"\bmono\b|\bcode\b|courier|inconsolata|consol", re.IGNORECASE)
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,60}")
_MAX_FAMILIES = 20
_SIZE = lazy_pattern(r"(\d{1,4})(?:(?:[xX]|/(?=\d{1,4}(?:[/.]|$)))(\d{1,4}))?(?!\d)")
_COLOUR = lazy_pattern(r"[0-9a-fA-F]{3}|[0-9a-fA-F]{6}")
_MAX_WORDS = 120
_WARNINGS = (
    (b'console.warn("cdn.tailwindcss.com should not be used in production', b'void("'),
    (b'console.warn("You are using the in-browser Babel transformer.', b'void("'),
)
"""Warnings of libraries that a CDN serves them, and the code that silences them: here no CDN does."""


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
    found = _NPM.fullmatch(text)
    if found is None:
        return None
    path = (found["path"] or "").rstrip("/")
    suffix = "/+esm" if depth else ""
    if depth and (path == "+esm" or path.endswith("/+esm")):
        module, path = True, path.removesuffix("+esm").rstrip("/")
    up = "../" * text.count("/") or "./"
    return PackageAddress(found["name"], found["version"] or "", path, module, up, suffix)


def _parse_versioned(text: str) -> PackageAddress | None:
    found = _VERSIONED.fullmatch(text)
    if found is None:
        return None
    name, folder = _CDNJS.get(found["name"].lower(), ("", ""))
    if not name:
        return None
    path = found["path"].replace("font-awesome.", "all.") if name == _FONT_AWESOME else found["path"]
    return PackageAddress(name, found["version"], folder + path)


def font_css(url: str) -> str:
    """Build the style sheet for an address of a font service: the nearest local font for each family."""
    families: dict[str, None] = {}
    for key, value in parse_qsl(urlsplit(url).query, max_num_fields=200):
        if key == "family":
            families |= dict.fromkeys(part.partition(":")[0].strip() for part in value.split("|"))
    named = [family for family in families if _NAME.fullmatch(family)]
    styles = (("100 500", ""), ("600 900", " Bold"))
    return "".join(_face(family, *style) for family in named[:_MAX_FAMILIES] for style in styles)


def _face(family: str, weights: str, style: str) -> str:
    stack = _MONO if _MONOS.search(family) else _SERIF if _SERIFS.search(family) else _SANS
    sources = ",".join(f'local("{name}{style}")' for name in (family, *stack))
    return f'@font-face{{font-family:"{family}";font-weight:{weights};font-display:swap;src:{sources}}}\n'


def placeholder(url: str) -> str:
    """Draw a placeholder picture as SVG, with the size, colours and words of its address."""
    parts = urlsplit(url)
    path = re.sub(r"^(?:seed/[^/]*|id/\d+)/", "", unquote(parts.path).lstrip("/"))
    size = _SIZE.match(path)
    width = max(int(size[1]), 1) if size else 300
    height = max(int(size[2]), 1) if size and size[2] else width if size else 200
    colours = [part for part in path.split("/")[1:] if _COLOUR.fullmatch(part)] if size else []
    back, ink = (f"#{colour}" for colour in (*colours, *("dddddd", "666666")[len(colours) :])[:2])
    given = parse_qs(parts.query).get("text", [""])[0].replace("\\n", " ")[:_MAX_WORDS]
    asked = "".join(char for char in given if char.isprintable())
    words = asked or ("" if parts.hostname in _PHOTO_HOSTS else f"{width} × {height}")
    letter = max(min(height // 3, width * 3 // (2 * max(len(words), 1)), 64), 6)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" fill="{back}"/>'
        f'<text x="50%" y="50%" dy=".35em" text-anchor="middle" font-family="sans-serif" font-size="{letter}" '
        f'fill="{ink}">{escape(words)}</text></svg>'
    )


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


def _serve_module(asked: PackageAddress) -> PageResponse | None:
    if not asked.module:
        return None
    file = MODULE_FILES.get((asked.name, asked.path))
    found = find_file(asked.name, file or "", "19")
    if file is None or found is None:
        return _serve_native_module(asked)
    if asked.version:
        path = f"/{asked.path}" if asked.path else ""
        return _script(reexport_module(f"{asked.up}{asked.name}{path}{asked.suffix}"))
    source = read_file(*found).decode()
    return _script(wrap_commonjs(source, asked.name, asked.up, asked.suffix))


def _serve_native_module(asked: PackageAddress) -> PageResponse | None:
    """Return a module that reexports the package's own ES module, which imports its other files."""
    main = {"vue": "dist/vue.esm-browser.prod.js", "ionicons": "dist/ionicons/ionicons.esm.js"}.get(asked.name)
    main = "dist/ionic/ionic.esm.js" if asked.name == "@ionic/core" else main
    if main is None or asked.path:
        return None
    target = f"{asked.up}{asked.name}/{main}"
    return _script(f'export * from "{target}";\nimport * as all from "{target}";\nexport default all;\n')


def _serve_file(asked: PackageAddress) -> PageResponse | None:
    name, path = asked.name, asked.path
    if name == "@ionic/core" and path.startswith("dist/ionic/svg/"):
        name, path = "ionicons", path.replace("dist/ionic/", "dist/ionicons/")
    found = find_file(name, path, asked.version)
    if found is None:
        return None
    package, path = found
    data = read_file(package, path)
    for warning, quiet in _WARNINGS:
        data = data.replace(warning, quiet + warning.partition(b'"')[2])
    return PageResponse(200, media_type(path), data)


def _script(text: str) -> PageResponse:
    return _text("text/javascript", text)


def _text(kind: str, text: str) -> PageResponse:
    return PageResponse(200, f"{kind}; charset=utf-8", text.encode())
