"""A finished project of the gallery: its title, stack, files and thumbnail, read from the package."""

import tomllib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable

import msgspec

NAMES = ("bakery", "dashboard", "pricing", "habits", "recipe", "poster")
"""The finished projects, in the order that the page shows them in. Each is a folder with project.toml, thumbnail.webp
and the files of the project."""


class FinishedProject(msgspec.Struct, frozen=True):
    name: str
    title: str
    description: str
    stack: str

    def files(self) -> dict[str, bytes]:
        """Return the files of the project by path."""
        return dict(_walk(_folder(self.name) / "files", ""))

    def thumbnail(self) -> bytes:
        """Return a picture of its first page, as WebP."""
        return (_folder(self.name) / "thumbnail.webp").read_bytes()


def list_finished() -> list[FinishedProject]:
    """Return the finished projects in their order."""
    return [_read(name) for name in NAMES]


def find_finished(name: str) -> FinishedProject | None:
    """Return the finished project of a name, or None."""
    return _read(name) if name in NAMES else None


def _read(name: str) -> FinishedProject:
    about = tomllib.loads((_folder(name) / "project.toml").read_text("utf-8"))
    return msgspec.convert({"name": name, **about}, FinishedProject)


def _folder(name: str) -> Traversable:
    return resources.files("heald_studio") / "gallery" / name


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        else:
            yield f"{prefix}{entry.name}", entry.read_bytes()
