"""The vendored npm packages of `libraries/lock.json`: their files, and those files as ES modules.

`packages/studio/vendor_libraries.py` fetches a zip for each package; a wheel contains them. A path that a package only
has in another spelling (unminified, for development) is answered with the one that exists.
"""

import os
import re
import zipfile
import zlib
from collections.abc import Set
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from heald.core.errors import ConfigurationError
from heald.core.lazy import lazy_pattern

_FOLDER = Path(__file__).parents[1] / "libraries"
VENDOR = _FOLDER / "vendor"
MISSING = "The libraries of previews are not installed; run packages/studio/vendor_libraries.py (make made) once."

_ZIP_HEADER = 30  # bytes before the name of a file, and the lengths of the name and of what follows it at their end
_DEVELOPMENT = lazy_pattern(r"[.-]development\b")
_EXPORT = lazy_pattern(r"^\s*exports\.([A-Za-z_$][\w$]*)\s*=(?!=)", re.MULTILINE)
_REQUIRE = lazy_pattern(r"""\brequire\((["'])([^"']+)\1\)""")
MODULE_FILES = {
    ("class-variance-authority", ""): "dist/index.js",
    ("clsx", ""): "dist/clsx.js",
    ("lucide-react", ""): "dist/cjs/lucide-react.js",
    ("react", ""): "cjs/react.production.js",
    ("react", "jsx-runtime"): "cjs/react-jsx-runtime.production.js",
    ("react-dom", ""): "cjs/react-dom.production.js",
    ("react-dom", "client"): "cjs/react-dom-client.production.js",
    ("scheduler", ""): "cjs/scheduler.production.js",
    ("tailwind-merge", ""): "dist/bundle-cjs.js",
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
    return tuple(sorted(lock.packages, key=lambda package: (package.name, -int(package.major))))


def is_installed() -> bool:
    return all(package.archive.is_file() for package in packages())


def find_file(name: str, path: str, version: str = "") -> tuple[Package, str] | None:
    """Find a package that has a file, and the path of the file in it; the given major version is preferred."""
    candidates = [package for package in packages() if package.name == name]
    candidates.sort(key=lambda candidate: candidate.major != version.partition(".")[0].lstrip("^~v"))
    for package in candidates:
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
    stable = _DEVELOPMENT.sub(lambda match: match[0][0] + "production", path)
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
    needs = list(dict.fromkeys(match[2] for match in _REQUIRE.finditer(source)))
    imports = "".join(f'import need{at} from "{up}{need}{suffix}";\n' for at, need in enumerate(needs))
    table = ",".join(f'"{need}":need{at}' for at, need in enumerate(needs))
    names = _EXPORTED_NAMES.get(name) or tuple(dict.fromkeys(_EXPORT.findall(source)))
    named = "".join(f",{export}" for export in names if export != "default")
    return (
        f"{imports}const needs={{{table}}};\n"
        "const module={exports:{}};\n"
        f"(function(module,exports,require){{{source}\n}})(module,module.exports,(name)=>needs[name]);\n"
        f"export default module.exports;\nexport const {{{named[1:]}}}=module.exports;\n"
    )


def reexport_module(target: str) -> str:
    """Make a module that exports everything of another one."""
    return f'export * from "{target}";\nexport {{default}} from "{target}";\n'
