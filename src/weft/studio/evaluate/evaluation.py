"""Runs every target through every converter and stack, one after the other so that times are comparable."""

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from types import TracebackType
from typing import Protocol

import msgspec
from msgspec.structs import replace
from PIL import Image

from weft.core.errors import ConfigurationError, WeftError
from weft.studio.browser.browser import Browser, shared_browser
from weft.studio.browser.page import MAX_PIXELS, BrowserError, TextBlock, Viewport
from weft.studio.evaluate.quality import (
    Checkers,
    Files,
    PagePart,
    compare_parts,
    find_checkers,
    measure_quality,
    read_parts,
)
from weft.studio.evaluate.report import BARS, Bar, EvaluationReport, Pictures, Row, RowStore, row_key
from weft.studio.preview import ProjectPreview
from weft.studio.score.blocks import PageImage, PictureError, read_text
from weft.studio.score.score import Score, heat_map, score
from weft.studio.stack import Stack, find_stack


class Conversion(msgspec.Struct, frozen=True, kw_only=True):
    """A finished page, with its cost and notes."""

    files: Files
    cost_usd: float | None = None
    first_preview_seconds: float | None = None
    """The time to the first preview, if there was one before the end."""
    notes: tuple[str, ...] = ()


class Converter(Protocol):
    """Turns a picture into the files of a page. If it raises, the row has the reason."""

    async def __call__(self, target: bytes, stack: Stack, /) -> Conversion | Files: ...


_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_SCALE = re.compile(r"@([1-4])x$")
_PHONE = 600
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
        return Viewport(min(width, 4096), min(height, 812 if width < _PHONE else 800))


def load_targets(where: Path | Sequence[Path | EvaluationTarget]) -> tuple[EvaluationTarget, ...]:
    """Load the targets of a folder and its subfolders, sorted by name, or of a list of files.

    `NAME.png` is a target; `NAME@2x.png` has two device pixels for each CSS pixel. `NAME.json` beside it may hold the
    text of the picture (`texts`); without it the text is read from the picture. It may also hold the links, controls,
    icons and photographs of the document (`parts`); without them these are not compared.
    """
    if isinstance(where, Path):
        found = tuple(_targets_in_folder(where))
        if not found:
            raise ConfigurationError(f"There is no picture in {where.name!r}; put PNG, JPEG or WebP files there.")
        return found
    given = tuple(each if isinstance(each, EvaluationTarget) else _read_target(each, each.name) for each in where)
    names = [each.name for each in given]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"Two targets are called {twice[0]!r}; give each a name of its own.")
    return given


def _targets_in_folder(folder: Path) -> Iterator[EvaluationTarget]:
    if not folder.is_dir():
        raise ConfigurationError(f"{folder.name!r} is no folder; name the folder that holds the targets.")
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in within.parts)
        if path.suffix.lower() in _SUFFIXES and path.is_file() and not hidden:
            yield _read_target(path, within.as_posix())


def _read_target(path: Path, within: str) -> EvaluationTarget:
    stem = within.rpartition(".")[0]
    scale = _SCALE.search(stem)
    if not path.is_file():
        raise ConfigurationError(f"There is no picture {path.name!r}; check its path.")
    if path.stat().st_size > _MAX_BYTES:
        raise ConfigurationError(f"The picture {path.name!r} is larger than {_MAX_BYTES >> 20} MB.")
    image = path.read_bytes()
    truth = _read_truth(path.with_suffix(".json"))
    return EvaluationTarget(
        name=_SCALE.sub("", stem),
        image=image,
        texts=truth.texts,
        parts=truth.parts,
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


_EVERY = 0.02
_STATUS = Path("/proc/self/status")


class ResourceMeter:
    """Measures the time and the memory of a block: `with ResourceMeter() as meter:`.

    Processor time is that of all threads of this process. Memory is the peak resident size of this process in
    megabytes, sampled from a thread; None if the system does not report it. Other processes, such as the browser, are
    not included.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.memory_mb: float | None = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="meter", daemon=True)
        self._started = 0.0
        self._cpu_started = 0.0

    def __enter__(self) -> "ResourceMeter":
        self._started = time.perf_counter()
        self._cpu_started = time.process_time()
        self._sample_memory()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.seconds = time.perf_counter() - self._started
        self.cpu_seconds = time.process_time() - self._cpu_started
        self._done.set()
        self._thread.join()
        self._sample_memory()

    def _sample(self) -> None:
        while not self._done.wait(_EVERY):
            self._sample_memory()

    def _sample_memory(self) -> None:
        now = _resident_mb()
        if now is not None:
            self.memory_mb = max(now, self.memory_mb or 0.0)


def _resident_mb() -> float | None:
    try:
        status = _STATUS.read_text("ascii", "replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1_000_000
    return None


WIDTH = 720
_HEIGHT = 6_000


def shrink_picture(image: bytes) -> bytes:
    """Shrink a picture for a report: WebP, at most 720 pixels wide, cropped at the bottom if it is too tall."""
    with Image.open(BytesIO(image), formats=("PNG", "JPEG", "WEBP", "GIF")) as opened:
        picture = opened.convert("RGB")
    if picture.width > WIDTH:
        height = max(1, round(picture.height * WIDTH / picture.width))
        picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    if picture.height > _HEIGHT:
        picture = picture.crop((0, 0, picture.width, _HEIGHT))
    out = BytesIO()
    picture.save(out, "WEBP", quality=72, method=4)
    return out.getvalue()


Progress = Callable[[Row], object]


async def evaluate(
    targets: Path | Sequence[Path | EvaluationTarget],
    converters: Mapping[str, Converter],
    stacks: Sequence[str | Stack] = ("html_css",),
    *,
    browser: Browser | None = None,
    checkers: Checkers | None = None,
    bars: Sequence[Bar] = BARS,
    progress: Progress | None = None,
    seconds: float | None = 600.0,
    at_once: bool = False,
    store: RowStore | None = None,
) -> EvaluationReport:
    """Measure the converters, by their names, on the targets. Each conversion has a limit of `seconds`.

    A target that fails is a row with an error and a score of 0, and the run continues. `progress` is called with each
    finished row. Rows that `store` has are not measured again, and finished ones are kept there. `at_once` starts all
    conversions together, for models whose answers come in batches; pages are still measured one after the other.
    """
    if not converters or not stacks:
        raise ConfigurationError("There is nothing to evaluate; name at least one model and one stack.")
    chosen = [each if isinstance(each, Stack) else find_stack(each) for each in stacks]
    loaded = await asyncio.to_thread(load_targets, targets)
    run = _EvaluationRun(browser or shared_browser(), find_checkers() if checkers is None else checkers, seconds)
    width = asyncio.Semaphore(_ALL_AT_ONCE if at_once else 1)

    async def evaluate_one(target: EvaluationTarget, expected: PageImage | str, name: str, stack: Stack) -> Row:
        async with width:
            row = await run.evaluate_target(target, expected, name, converters[name], stack)
            if store is not None:
                await asyncio.to_thread(store.keep, _place_of_row(target, name, stack)[0], row)
            if progress is not None:
                progress(row)
            return row

    rows: list[Row] = []
    tasks: list[asyncio.Task[Row]] = []
    try:
        for target in loaded:
            todo: list[tuple[str, Stack]] = []
            for name, each in product(converters, chosen):
                known = store.find(*_place_of_row(target, name, each)) if store is not None else None
                if known is None:
                    todo.append((name, each))
                else:
                    rows.append(known)
            expected = await _read_target_text(target) if todo else ""
            for name, each in todo:
                tasks.append(asyncio.create_task(evaluate_one(target, expected, name, each)))
                if not at_once:
                    rows.append(await tasks.pop())
        rows += await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return EvaluationReport(rows=tuple(rows), bars=tuple(bars), notes=run.checkers.missing)


def _place_of_row(target: EvaluationTarget, model: str, stack: Stack) -> tuple[str, str, str]:
    """Return the key of a row, and the name and group that it has in this run."""
    truth = target.texts if target.parts is None else (target.texts, target.parts)
    return row_key(target.image, truth, model, stack.name), target.name, target.group


_ALL_AT_ONCE = 10_000


class _EvaluationRun:
    """One run: the browser, the checkers and the time limit."""

    def __init__(self, browser: Browser, checkers: Checkers, seconds: float | None) -> None:
        self.checkers = checkers
        self._measuring = asyncio.Lock()
        self._browser = browser
        self._seconds = seconds

    async def evaluate_target(
        self, target: EvaluationTarget, expected: PageImage | str, model: str, converter: Converter, stack: Stack
    ) -> Row:
        row = Row(target=target.name, group=target.group, model=model, stack=stack.name)
        row = replace(row, pictures=Pictures(target=await asyncio.to_thread(shrink_picture, target.image)))
        meter = ResourceMeter()
        try:
            with meter:
                conversion = await self._convert(target, converter, stack)
        except _ConversionFailed as fault:
            return replace(
                row,
                error=str(fault),
                seconds=meter.seconds,
                cpu_seconds=meter.cpu_seconds,
                memory_mb=meter.memory_mb,
            )
        row = replace(
            row,
            seconds=meter.seconds,
            cpu_seconds=meter.cpu_seconds,
            memory_mb=meter.memory_mb,
            first_preview_seconds=conversion.first_preview_seconds,
            cost_usd=conversion.cost_usd,
            notes=conversion.notes,
        )
        try:
            async with self._measuring:
                return await self._measure(row, target, expected, conversion, stack)
        except BrowserError as error:
            return replace(row, error=str(error))

    async def _convert(self, target: EvaluationTarget, converter: Converter, stack: Stack) -> Conversion:
        try:
            async with asyncio.timeout(self._seconds):
                conversion = await converter(target.image, stack)
        except TimeoutError:
            raise _ConversionFailed(f"The page was not finished after {self._seconds:g} s.") from None
        except WeftError as error:
            raise _ConversionFailed(str(error)) from None
        except Exception as error:
            raise _ConversionFailed(
                f"The converter failed ({type(error).__name__}); look at it outside the evaluation."
            ) from None
        conversion = conversion if isinstance(conversion, Conversion) else Conversion(files=conversion)
        if not conversion.files:
            raise _ConversionFailed("The converter made no file.")
        return conversion

    async def _measure(
        self, row: Row, target: EvaluationTarget, expected: PageImage | str, conversion: Conversion, stack: Stack
    ) -> Row:
        has_truth = target.texts is not None
        serve = ProjectPreview(stack, conversion.files)
        rendering, quality = await measure_quality(
            self._browser, serve, stack, conversion.files, target.viewport, self.checkers
        )
        notes = (*row.notes, *rendering.notes, *(f"Console: {line}" for line in rendering.console[:5]))
        notes += tuple(f"Not found: {path}" for path in rendering.failed[:5])
        found = compare_parts(target.parts, read_parts(rendering.probed)) if target.parts is not None else None
        row = replace(row, quality=quality, parts=found, notes=notes)
        picture = PageImage.of(rendering)
        result = await asyncio.to_thread(shrink_picture, rendering.picture)
        if isinstance(expected, str):
            return replace(row, notes=(*notes, expected), pictures=Pictures(row.pictures.target, result))
        figures = await asyncio.to_thread(score, expected, picture)
        own = await asyncio.to_thread(_score_without_truth, expected, picture) if has_truth else None
        heat = await asyncio.to_thread(lambda: shrink_picture(heat_map(expected, picture)))
        return replace(row, score=figures, own=own, pictures=Pictures(row.pictures.target, result, heat))


def _score_without_truth(expected: PageImage, picture: PageImage) -> Score | None:
    """Score as if the text of the target were unknown; None if no reader is installed."""
    try:
        return score(PageImage(expected.image), picture)
    except PictureError:
        return None


class _ConversionFailed(Exception):
    """A conversion without a page; the message is the reason."""


async def _read_target_text(target: EvaluationTarget) -> PageImage | str:
    """Return the target with its text, read once for all converters, or a sentence if it cannot be read."""
    if target.texts is not None:
        return target.picture
    try:
        return PageImage(target.image, await asyncio.to_thread(read_text, target.image))
    except PictureError as error:
        return str(error)
