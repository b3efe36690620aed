"""The run: every target through every converter and stack, one after the other so that times mean something."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from weft.core.errors import ConfigurationError, WeftError
from weft.studio.browser import Browser, BrowserError, Viewport, shared_browser
from weft.studio.evaluate.bars import BARS, Bar
from weft.studio.evaluate.checkers import Checkers, find_checkers
from weft.studio.evaluate.conversion import Conversion, Converter
from weft.studio.evaluate.meter import Meter
from weft.studio.evaluate.quality import examine
from weft.studio.evaluate.report import Report
from weft.studio.evaluate.row import Pictures, Row
from weft.studio.evaluate.shrinking import shrunk
from weft.studio.evaluate.target import Target, load_targets
from weft.studio.score import Picture, PictureError, heat_map, read_text, score
from weft.studio.stacks.preview import Preview
from weft.studio.stacks.stack import Stack, stack

Progress = Callable[[Row], object]


async def evaluate(
    targets: Path | Sequence[Path | Target],
    converters: Mapping[str, Converter],
    stacks: Sequence[str | Stack] = ("html_css",),
    *,
    browser: Browser | None = None,
    checkers: Checkers | None = None,
    bars: Sequence[Bar] = BARS,
    progress: Progress | None = None,
    seconds: float = 600.0,
) -> Report:
    """Measure the converters, by their names, on the targets. A conversion may take `seconds`.

    A target that fails, for whatever reason, is a row with a sentence and a score of 0, and the run goes on. `progress`
    gets each row when it is done.
    """
    if not converters or not stacks:
        raise ConfigurationError("There is nothing to evaluate; name at least one model and one stack.")
    chosen = [each if isinstance(each, Stack) else stack(each) for each in stacks]
    loaded = await asyncio.to_thread(load_targets, targets)
    run = _Run(browser or shared_browser(), find_checkers() if checkers is None else checkers, seconds)
    rows: list[Row] = []
    for target in loaded:
        expected = await _expected(target)
        for name, converter in converters.items():
            for each in chosen:
                row = await run.row(target, expected, name, converter, each)
                rows.append(row)
                if progress is not None:
                    progress(row)
    return Report(rows=tuple(rows), bars=tuple(bars), notes=run.checkers.missing)


class _Run:
    """What stays the same from row to row."""

    def __init__(self, browser: Browser, checkers: Checkers, seconds: float) -> None:
        self.checkers = checkers
        self._browser = browser
        self._seconds = seconds

    async def row(self, target: Target, expected: Picture | str, model: str, converter: Converter, stack: Stack) -> Row:
        row = Row(target=target.name, group=target.group, model=model, stack=stack.name)
        row = replace(row, pictures=Pictures(target=await asyncio.to_thread(shrunk, target.image)))
        meter = Meter()
        try:
            with meter:
                made = await self._converted(target, converter, stack)
        except _NotMade as fault:
            return replace(row, error=str(fault), seconds=meter.seconds, memory_mb=meter.memory_mb)
        row = replace(
            row,
            seconds=meter.seconds,
            memory_mb=meter.memory_mb,
            first_preview_seconds=made.first_preview_seconds,
            cost_usd=made.cost_usd,
            notes=made.notes,
        )
        try:
            return await self._measured(row, target.viewport, expected, made, stack)
        except BrowserError as error:
            return replace(row, error=str(error))

    async def _converted(self, target: Target, converter: Converter, stack: Stack) -> Conversion:
        try:
            async with asyncio.timeout(self._seconds):
                made = await converter(target.image, stack)
        except TimeoutError:
            raise _NotMade(f"The page was not finished after {self._seconds:g} s.") from None
        except WeftError as error:
            raise _NotMade(str(error)) from None
        except Exception as error:
            raise _NotMade(
                f"The converter failed ({type(error).__name__}); look at it outside the evaluation."
            ) from None
        made = made if isinstance(made, Conversion) else Conversion(files=made)
        if not made.files:
            raise _NotMade("The converter made no file.")
        return made

    async def _measured(
        self, row: Row, viewport: Viewport, expected: Picture | str, made: Conversion, stack: Stack
    ) -> Row:
        serve = Preview(stack, made.files)
        seen, quality = await examine(self._browser, serve, stack, made.files, viewport, self.checkers)
        notes = (*row.notes, *seen.notes, *(f"Console: {line}" for line in seen.console[:5]))
        notes += tuple(f"Not found: {path}" for path in seen.failed[:5])
        row = replace(row, quality=quality, notes=notes)
        picture = Picture.of(seen)
        result = await asyncio.to_thread(shrunk, seen.picture)
        if isinstance(expected, str):
            return replace(row, notes=(*notes, expected), pictures=Pictures(row.pictures.target, result))
        figures = await asyncio.to_thread(score, expected, picture)
        heat = await asyncio.to_thread(lambda: shrunk(heat_map(expected, picture)))
        return replace(row, score=figures, pictures=Pictures(row.pictures.target, result, heat))


class _NotMade(Exception):
    """There is no page; the sentence says why."""


async def _expected(target: Target) -> Picture | str:
    """The target with its text, read once for all converters; a sentence if it cannot be read."""
    if target.texts is not None:
        return target.picture
    try:
        return Picture(target.image, await asyncio.to_thread(read_text, target.image))
    except PictureError as error:
        return str(error)
