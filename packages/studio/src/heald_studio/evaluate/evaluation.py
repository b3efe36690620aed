"""Runs every target through every converter and stack, one after the other so that times are comparable."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from msgspec.structs import replace

from heald.core.errors import ConfigurationError, HealdError
from heald_studio.browser.browser import Browser, shared_browser
from heald_studio.browser.page import BrowserError, Rendering
from heald_studio.evaluate.bars import BARS, Bar
from heald_studio.evaluate.checkers import Checkers, find_checkers
from heald_studio.evaluate.conversion import Conversion, Converter
from heald_studio.evaluate.design2code import score_design2code
from heald_studio.evaluate.document_blocks import read_text_areas
from heald_studio.evaluate.document_figures import compare_documents, read_document_parts
from heald_studio.evaluate.page_document import PageDocument, changed_share, moved_share, read_document
from heald_studio.evaluate.page_parts import compare_parts, read_parts
from heald_studio.evaluate.quality import PHONE, measure_quality
from heald_studio.evaluate.report import EvaluationReport
from heald_studio.evaluate.resource_meter import ResourceMeter
from heald_studio.evaluate.row import Pictures, Row, row_key
from heald_studio.evaluate.row_store import RowStore
from heald_studio.evaluate.targets import EvaluationTarget, load_targets
from heald_studio.evaluate.thumbnails import shrink_picture
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.score.heat_map import heat_map
from heald_studio.score.page_image import PageImage, PictureError
from heald_studio.score.score import Score, score
from heald_studio.score.text_reader import read_text
from heald_studio.stacks.installed import find_stack
from heald_studio.stacks.stack import Stack

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
    chosen = [chosen_stack if isinstance(chosen_stack, Stack) else find_stack(chosen_stack) for chosen_stack in stacks]
    loaded = await asyncio.to_thread(load_targets, targets)
    run = _EvaluationRun(browser or shared_browser(), find_checkers() if checkers is None else checkers, seconds)
    width = asyncio.Semaphore(_ALL_AT_ONCE if at_once else 1)

    async def evaluate_one(
        target: EvaluationTarget, expected: PageImage | str, name: str, stack: Stack, key: str
    ) -> Row:
        async with width:
            row = await run.evaluate_target(target, expected, name, converters[name], stack)
            if store is not None:
                await asyncio.to_thread(store.keep, key, row)
            if progress is not None:
                progress(row)
            return row

    rows: list[Row] = []
    tasks: list[asyncio.Task[Row]] = []
    try:
        for target in loaded:
            todo: list[tuple[str, Stack, str]] = []
            for name, chosen_stack in product(converters, chosen):
                key, target_name, group = _place_of_row(target, name, chosen_stack)
                finished_row = store.find(key, target_name, group) if store is not None else None
                if finished_row is None:
                    todo.append((name, chosen_stack, key))
                else:
                    rows.append(finished_row)
            true_target = await _read_target_document(run.browser, target) if todo else target
            expected = await _read_target_text(true_target) if todo else ""
            for name, chosen_stack, key in todo:
                task = evaluate_one(true_target, expected, name, chosen_stack, key)
                tasks.append(asyncio.create_task(task))
                if not at_once:
                    rows.append(await tasks.pop())
        rows += await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    return EvaluationReport(rows=tuple(rows), bars=tuple(bars), notes=run.checkers.missing)


def _place_of_row(target: EvaluationTarget, model: str, stack: Stack) -> tuple[str, str, str]:
    """Return the key of a row, and the name and group that it has in this run."""
    truth: object = target.texts if target.parts is None else (target.texts, target.parts)
    if target.document is not None:
        truth = (truth, hashlib.sha256(target.document.read_bytes()).hexdigest())
    return row_key(target.image, truth, model, stack.name), target.name, target.group


_ALL_AT_ONCE = 10_000
_MOST_MOVED = 0.05  # of the lines of a document that its picture has elsewhere or in other letters


class _EvaluationRun:
    """One run: the browser, the checkers and the time limit."""

    def __init__(self, browser: Browser, checkers: Checkers, seconds: float | None) -> None:
        self.checkers = checkers
        self._measuring = asyncio.Lock()
        self.browser = browser
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
            notes=(*target.notes, *conversion.notes),
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
        except HealdError as error:
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
            self.browser, serve, stack, conversion.files, target.viewport, self.checkers
        )
        notes = (*row.notes, *rendering.notes, *(f"Console: {line}" for line in rendering.console[:5]))
        notes += tuple(f"Not found: {path}" for path in rendering.failed[:5])
        parts = compare_parts(target.parts, read_parts(rendering.probed)) if target.parts is not None else None
        row = replace(row, quality=quality, parts=parts, notes=notes)
        if target.truth is not None:
            row = await self._compare_documents(row, target, target.truth, serve, rendering, conversion)
        picture = PageImage.of(rendering)
        result = await asyncio.to_thread(shrink_picture, rendering.picture)
        if isinstance(expected, str):
            return replace(row, notes=(*notes, expected), pictures=Pictures(row.pictures.target, result))
        figures = await asyncio.to_thread(score, expected, picture)
        score_without_truth = await asyncio.to_thread(_score_without_truth, expected, picture) if has_truth else None
        heat = await asyncio.to_thread(lambda: shrink_picture(heat_map(expected, picture)))
        return replace(
            row, score=figures, own=score_without_truth, pictures=Pictures(row.pictures.target, result, heat)
        )

    async def _compare_documents(
        self,
        row: Row,
        target: EvaluationTarget,
        document: PageDocument,
        serve: ProjectPreview,
        rendering: Rendering,
        conversion: Conversion,
    ) -> Row:
        """Compare the page with the document beside the target: by Design2Code's definition, and by their elements."""
        is_phone = target.viewport.width < PHONE
        areas = await read_text_areas(self.browser, serve, PAGE, target.viewport, rendering.picture, mobile=is_phone)
        parts = read_parts(rendering.probed)
        figures = await asyncio.to_thread(
            compare_documents,
            (document.elements, document.parts, document.texts),
            (read_document_parts(rendering.probed), parts, rendering.texts),
            conversion.files,
        )
        design2code = await asyncio.to_thread(score_design2code, areas, document.areas)
        return replace(row, document=figures, design2code=design2code, identity=document.identity, seen=document.seen)


async def _read_target_document(browser: Browser, target: EvaluationTarget) -> EvaluationTarget:
    """Return the target with everything that the document beside it says.

    The picture is replaced by a rendering of the document if the sizes or many lines differ, such as where the
    document's fonts are missing: its lines would be looked for where the picture does not have them.
    """
    if target.document is None:
        return target
    document = await read_document(browser, target.document, target.viewport)
    changed = await asyncio.to_thread(changed_share, target.image, document.picture)
    moved = await asyncio.to_thread(moved_share, target.image, document.picture, document.texts)
    notes = [f"Not found by the document: {path}" for path in document.missing[:3]]
    is_other = changed == 1.0 or moved > _MOST_MOVED
    if is_other:
        what = "have other sizes" if changed == 1.0 else f"differ in {moved:.0%} of their lines"
        notes.append(f"The picture and the document {what} here, so a rendering of the document was converted.")
    elif changed:
        notes.append(f"The picture and the document differ in {changed:.1%} of their pixels here.")
    return replace(
        target,
        image=document.picture if is_other else target.image,
        texts=document.texts,
        parts=document.parts,
        truth=document,
        notes=tuple(notes),
    )


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
