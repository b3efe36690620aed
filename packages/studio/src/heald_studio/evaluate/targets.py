"""The targets of an evaluation: pictures, with the document that each was rendered from."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path

import msgspec
from PIL import Image

from heald.core.errors import ConfigurationError
from heald_studio.browser.page import MAX_PIXELS, TextBlock, Viewport
from heald_studio.evaluate.page_document import PageDocument
from heald_studio.evaluate.page_parts import PagePart
from heald_studio.score.page_image import PageImage

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_SCALE = re.compile(r"@([1-4])x$")
_PHONE = 600
_DOCUMENT_HEIGHT = 720  # of the window in which Design2Code renders documents
_MAX_BYTES = 64 << 20


class _TargetTruth(msgspec.Struct):
    texts: tuple[TextBlock, ...] | None = None
    parts: tuple[PagePart, ...] | None = None


class EvaluationTarget(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    image: bytes
    texts: tuple[TextBlock, ...] | None = None
    parts: tuple[PagePart, ...] | None = None
    """Its links, controls, icons and photographs, if they are known."""
    document: Path | None = None
    """The HTML file that the picture was made from, if it lies beside it."""
    truth: PageDocument | None = None
    """What was read from that file."""
    notes: tuple[str, ...] = ()
    group: str = ""
    """Its folder, such as `tuning` or `held`; figures are also computed for each group."""
    scale: int = 1
    size: tuple[int, int]

    @property
    def picture(self) -> PageImage:
        return PageImage(self.image, self.texts)

    @property
    def viewport(self) -> Viewport:
        """The window in which its pages are rendered; no taller than the picture."""
        width, height = (max(side // self.scale, 16) for side in self.size)
        tallest = _DOCUMENT_HEIGHT if self.document is not None else 812 if width < _PHONE else 800
        return Viewport(min(width, 4096), min(height, tallest))


def load_targets(where: Path | Sequence[Path | EvaluationTarget]) -> tuple[EvaluationTarget, ...]:
    """Load the targets of a folder and its subfolders, sorted by name, or of a list of files.

    `NAME.png` is a target; `NAME@2x.png` has two device pixels for each CSS pixel. `NAME.json` beside it may hold the
    text of the picture (`texts`); without it the text is read from the picture. It may also hold the links, controls,
    icons and photographs of the document (`parts`); without them these are not compared. `NAME.html` beside it is the
    document itself: it is rendered, and everything is compared with it. Other pictures of its folder are not targets.
    """
    if isinstance(where, Path):
        folder_targets = tuple(_targets_in_folder(where))
        if not folder_targets:
            raise ConfigurationError(f"There is no picture in {where.name!r}; put PNG, JPEG or WebP files there.")
        return folder_targets
    targets = tuple(
        target if isinstance(target, EvaluationTarget) else _read_target(target, target.name) for target in where
    )
    names = [target.name for target in targets]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"Two targets are called {twice[0]!r}; give each a name of its own.")
    return targets


def _targets_in_folder(folder: Path) -> Iterator[EvaluationTarget]:
    if not folder.is_dir():
        raise ConfigurationError(f"{folder.name!r} is not a folder; name the folder that holds the targets.")
    pictures: list[Path] = []
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in _SUFFIXES and path.is_file() and not hidden:
            pictures.append(path)
    with_document = {path.parent for path in pictures if path.with_suffix(".html").is_file()}
    for path in pictures:
        # A picture without a document, in a folder of documents, is one that these show.
        if path.parent not in with_document or path.with_suffix(".html").is_file():
            yield _read_target(path, path.relative_to(folder).as_posix())


def _read_target(path: Path, within: str) -> EvaluationTarget:
    stem = within.rpartition(".")[0]
    scale = _SCALE.search(stem)
    if not path.is_file():
        raise ConfigurationError(f"There is no picture {path.name!r}; check its path.")
    if path.stat().st_size > _MAX_BYTES:
        raise ConfigurationError(f"The picture {path.name!r} is larger than {_MAX_BYTES >> 20} MB.")
    image = path.read_bytes()
    truth = _read_truth(path.with_suffix(".json"))
    document = path.with_suffix(".html")
    return EvaluationTarget(
        name=_SCALE.sub("", stem),
        image=image,
        texts=truth.texts,
        parts=truth.parts,
        document=document if document.is_file() else None,
        group=stem.partition("/")[0] if "/" in stem else "",
        scale=int(scale[1]) if scale else 1,
        size=_picture_size(image, path.name),
    )


def _picture_size(image: bytes, name: str) -> tuple[int, int]:
    try:
        with Image.open(BytesIO(image), formats=("PNG", "JPEG", "WEBP")) as opened:
            size = opened.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ConfigurationError(f"The picture {name!r} cannot be read; give a PNG, JPEG or WebP.") from None
    if size[0] * size[1] > MAX_PIXELS:
        raise ConfigurationError(f"The picture {name!r} has more than {MAX_PIXELS // 1_000_000} megapixels.")
    return size


def _read_truth(path: Path) -> _TargetTruth:
    if not path.is_file():
        return _TargetTruth()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_TargetTruth)
    except msgspec.DecodeError as error:
        raise ConfigurationError(f"The texts in {path.name!r} cannot be read: {error}.") from None
