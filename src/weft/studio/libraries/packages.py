"""The vendored packages: what the lock names, and their files.

The files are fetched by `scripts/vendor_libraries.py`, a zip for each package, and are part of a built wheel; a
checkout without them says so once and serves nothing. A path that a package has only in another spelling (unminified,
for development) is answered with the one that is there.
"""

import re
import zipfile
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from weft.core.errors import ConfigurationError

_HERE = Path(__file__).parent
VENDOR = _HERE / "vendor"
MISSING = "The libraries of previews are not installed; run scripts/vendor_libraries.py (make made) once."

_DEVELOPMENT = re.compile(r"[.-]development\b")


class Package(msgspec.Struct, frozen=True):
    """One version of an npm package, as the lock has it."""

    name: str
    version: str
    license: str
    main: str
    """The file that its bare address means."""

    @property
    def archive(self) -> Path:
        return VENDOR / f"{self.name.replace('/', '__')}@{self.version}.zip"

    @property
    def files(self) -> frozenset[str]:
        """The paths it has here."""
        return _names(self.archive) if self.archive.is_file() else frozenset()

    @property
    def major(self) -> str:
        return self.version.partition(".")[0]


class _Lock(msgspec.Struct, frozen=True):
    packages: list[Package]


@cache
def packages() -> tuple[Package, ...]:
    """All packages of the lock, the newest version of each first."""
    lock = msgspec.json.decode((_HERE / "lock.json").read_bytes(), type=_Lock)
    return tuple(sorted(lock.packages, key=lambda each: (each.name, -int(each.major))))


def installed() -> bool:
    return all(package.archive.is_file() for package in packages())


def require_installed() -> None:
    """Raises ConfigurationError if a preview would lack its libraries."""
    if not installed():
        raise ConfigurationError(MISSING)


def find(name: str, path: str, version: str = "") -> tuple[Package, str] | None:
    """A package of this name that has the path, and the path it has there: the wanted major version first."""
    known = [package for package in packages() if package.name == name]
    known.sort(key=lambda each: each.major != version.partition(".")[0].lstrip("^~v"))
    for package in known:
        for spelling in _spellings(path or package.main):
            if spelling in package.files:
                return package, spelling
    return None


def content(package: Package, path: str) -> bytes:
    if path not in package.files:
        raise ConfigurationError(MISSING)
    return _read(package.archive, path)


def _spellings(path: str) -> list[str]:
    stem, dot, suffix = path.rpartition(".")
    calm = _DEVELOPMENT.sub(lambda found: found[0][0] + "production", path)
    spellings = [path, calm, f"{stem}.min{dot}{suffix}", f"{stem}.prod{dot}{suffix}"]
    spellings += [f"{calm.removesuffix('.js')}.min.js"] if calm.endswith(".js") else []
    if ".min." in path:
        spellings.append(path.replace(".min.", "."))
    return spellings


@cache
def _names(archive: Path) -> frozenset[str]:
    with zipfile.ZipFile(archive) as opened:
        return frozenset(opened.namelist())


@lru_cache(maxsize=64)
def _read(archive: Path, path: str) -> bytes:
    with zipfile.ZipFile(archive) as opened:
        return opened.read(path)
