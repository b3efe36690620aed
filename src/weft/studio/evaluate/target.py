"""The pictures to be rebuilt, from files.

`NAME.png` is a target; `NAME@2x.png` one taken at two device pixels for each of CSS. Beside it `NAME.json` may hold the
text that is really in it (`texts`, as the score has them); without that the text is read from the picture.
"""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import msgspec
from PIL import Image

from weft.core.errors import ConfigurationError
from weft.studio.browser.rendering import MAX_PIXELS, TextBlock, Viewport
from weft.studio.score import Picture

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_SCALE = re.compile(r"@([1-4])x$")
_PHONE = 600
_MAX_BYTES = 64 << 20


class _Truth(msgspec.Struct):
    texts: tuple[TextBlock, ...] | None = None


class Target(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    image: bytes
    texts: tuple[TextBlock, ...] | None = None
    group: str = ""
    """The folder it lies in, as `tuning` and `held`: figures are also given for each group."""
    scale: int = 1
    size: tuple[int, int]

    @property
    def picture(self) -> Picture:
        return Picture(self.image, self.texts)

    @property
    def viewport(self) -> Viewport:
        """The window in which a page made from it is looked at: no taller than the picture, which may be short."""
        width, height = (max(side // self.scale, 16) for side in self.size)
        return Viewport(min(width, 4096), min(height, 812 if width < _PHONE else 800))

    @property
    def is_mobile(self) -> bool:
        return self.viewport.width < _PHONE


def load_targets(where: Path | Sequence[Path | Target]) -> tuple[Target, ...]:
    """The targets of a folder and its folders, or of a list of files, in the order of their names."""
    if isinstance(where, Path):
        found = tuple(_of_folder(where))
        if not found:
            raise ConfigurationError(f"There is no picture in {where.name!r}; put PNG, JPEG or WebP files there.")
        return found
    given = tuple(each if isinstance(each, Target) else _read(each, each.name) for each in where)
    names = [each.name for each in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"Two targets are called {twice[0]!r}; give each a name of its own.")
    return given


def _of_folder(folder: Path) -> Iterator[Target]:
    if not folder.is_dir():
        raise ConfigurationError(f"{folder.name!r} is no folder; name the folder that holds the targets.")
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in within.parts)
        if path.suffix.lower() in _SUFFIXES and path.is_file() and not hidden:
            yield _read(path, within.as_posix())


def _read(path: Path, within: str) -> Target:
    stem = within.rpartition(".")[0]
    scale = _SCALE.search(stem)
    if not path.is_file():
        raise ConfigurationError(f"There is no picture {path.name!r}; check its path.")
    if path.stat().st_size > _MAX_BYTES:
        raise ConfigurationError(f"The picture {path.name!r} is larger than {_MAX_BYTES >> 20} MB.")
    image = path.read_bytes()
    return Target(
        name=_SCALE.sub("", stem),
        image=image,
        texts=_texts(path.with_suffix(".json")),
        group=stem.partition("/")[0] if "/" in stem else "",
        scale=int(scale[1]) if scale else 1,
        size=_size(image, path.name),
    )


def _size(image: bytes, name: str) -> tuple[int, int]:
    try:
        with Image.open(BytesIO(image), formats=("PNG", "JPEG", "WEBP")) as opened:
            size = opened.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ConfigurationError(f"The picture {name!r} cannot be read; give a PNG, JPEG or WebP.") from None
    if size[0] * size[1] > MAX_PIXELS:
        raise ConfigurationError(f"The picture {name!r} has more than {MAX_PIXELS // 1_000_000} megapixels.")
    return size


def _texts(path: Path) -> tuple[TextBlock, ...] | None:
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Truth).texts
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"The texts in {path.name!r} cannot be read: {error}.") from None
