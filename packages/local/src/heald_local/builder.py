"""Builds a page from a picture, a turn at a time: sketch, assets, page, comparison, corrections, closing message.

The next turn follows from the calls that were made for the request, so that a conversation that was stored, forked or
reopened continues where it was. Only the detection is kept beside it, and can be repeated.
"""

import asyncio
import base64
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import msgspec

from heald.core.messages import Image
from heald.providers.scripted import Part, ScriptedCall, Think
from heald_local.arrange.page import arrange
from heald_local.commands import EXAMPLES
from heald_local.detection import DetectionJob
from heald_local.files import (
    PictureFiles,
    edits_between,
    embed_in_page,
    encode_as_files,
    extract_calls,
    extracted_paths,
)
from heald_local.links import link_pages
from heald_local.model import Mode
from heald_local.page import Page
from heald_local.refine import apply_mode, correct_page
from heald_local.request import SKETCH, FinishedCall, LocalRequest, asset_prefix
from heald_local.write.jsx import PUBLIC
from heald_local.write.stacks import ENTRIES, PROJECTS, STACKS, write_files
from heald_pictures.comparison import PageComparison
from heald_pictures.detector import Progress
from heald_pictures.elements import Box, Detection
from heald_pictures.errors import UnreadablePicture, VisionError
from heald_pictures.picture_source import describe_source

CANNOT = (
    "The local converter has no language model and cannot do this; choose a model with a key, or ask for a small "
    f"change, such as: {', '.join(EXAMPLES)}."
)
_UNKNOWN = "A picture does not show how things behave, hidden states, the exact fonts, or what the words mean."
_MODES: dict[Mode, str] = {
    "fidelity": "fidelity first: sizes and places are those of the picture",
    "responsive": "semantic and responsive first: text flows and grids choose their columns, so that it is off by some "
    "pixels",
}
_STAGES = {
    "regions": "Looking at areas, borders and shadows",
    "finding text": "Finding text",
    "reading": "Reading",
    "typefaces": "Fitting typefaces",
    "pictures": "Cutting out pictures",
}


class ProgressLines:
    """Describes the progress of a detection in lines that do not repeat."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, int]] = set()

    def line(self, progress: Progress) -> str:
        """Return a line about the step; empty if it repeats the last one."""
        words = _STAGES.get(progress.stage)
        quarter = int(progress.part * 4)
        if words is None or (progress.stage, quarter) in self._reported:
            return ""
        first = not any(stage == progress.stage for stage, _ in self._reported)
        self._reported.add((progress.stage, quarter))
        if progress.part in (0.0, 1.0) and first:
            return f"{words}.\n"
        return f"{words}: {round(progress.part * 100)} %.\n"


def describe_detection(detection: Detection) -> str:
    sizes = Counter(round(text.style.size) for text in detection.texts)
    fills = Counter(box.fill for box in detection.boxes)
    longest = max((text for text in detection.texts), key=lambda text: text.style.size, default=None)
    size = f"{detection.width} × {detection.height} px"
    lines = [
        describe_source(detection.source, detection.ratio),
        f"I see a page of {size} on {detection.background}: {counts(detection)}.",
    ]
    if longest is not None:
        lines.append(f"The largest text is “{longest.text[:80]}”, {round(longest.style.size)} px.")
    if sizes:
        lines.append(f"Text sizes: {_listed([f'{size} px' for size, _ in sizes.most_common(6)])}.")
    if fills:
        lines.append(f"Areas are filled with {_listed([fill for fill, _ in fills.most_common(6)])}.")
    return "\n".join([*lines, *detection.notes]) + "\n"


def counts(detection: Detection) -> str:
    kinds = (detection.texts, "text"), (detection.boxes, "box"), (detection.pictures, "picture")
    return _listed([_count(len(elements), noun) for elements, noun in kinds])


def describe_page(
    page: Page, path: str, mode: Mode, *, scores: Sequence[float] = (), remarks: Sequence[str] = (), rounds: int = 0
) -> str:
    sentences = [
        f"I wrote {path} from the picture with local vision code, {_MODES[mode]}. It has {counts(page.detection)}."
    ]
    if scores:
        after = f" after {_count(rounds, 'round')} of corrections (before: {scores[0]:.3f})" if rounds else ""
        sentences.append(f"Compared with the picture it scores {max(scores):.3f} of 1{after}.")
    return " ".join([*sentences, *page.notes, *remarks, _UNKNOWN])


def first_line(text: str, most: int = 300) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}{'es' if thing == 'box' else 's'}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "nothing"


ROUNDS = 3
GOOD = 0.985  # a page with this score is not corrected: every round costs a comparison
_GAIN = 0.0005
_TURN = 600_000  # characters that one turn writes: its message must fit into an event
_LONGEST = 60_000_000


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of corrections so far."""

    edits: list[FinishedCall]
    compared: list[PageComparison]

    @property
    def scores(self) -> list[float]:
        return [comparison.score for comparison in self.compared]

    @property
    def got_worse(self) -> bool:
        return len(self.scores) > 1 and self.scores[-1] < self.scores[-2] + _GAIN

    @property
    def is_decided(self) -> bool:
        """Whether the last edit reverted a correction that did not help."""
        return len(self.edits) == len(self.scores) and self.got_worse


class PageBuilder:
    """Yields the next turn of a conversion."""

    def __init__(self, request: LocalRequest, mode: Mode, detect: Callable[[bytes], DetectionJob]) -> None:
        self._request = request
        self._mode: Mode = mode
        self._detect = detect
        self._write_tool = request.first("create_file", "write_file")

    async def parts(self) -> AsyncGenerator[Part]:
        if self._request.stack not in STACKS:
            raise VisionError(
                f"The local converter does not write the stack {self._request.stack}; "
                f"choose one of {', '.join(STACKS)}, or a model."
            )
        if self._is_project and (self._write_tool is None or self._request.path):
            raise VisionError(_ONE_PAGE)
        look = self._detect(_picture_data(self._request.image))
        refused = [write for write in self._request.calls_of("create_file", "write_file") if not write.ok]
        if refused:
            first = next((write for write in refused if write.call.input.get("path") == self._path), refused[0])
            yield f"{first.call.input.get('path')} was not written: {first_line(first.result.text)}"
            return
        if not self._is_written and not look.is_done:
            async for part in self._report_progress(look):
                yield part
                if isinstance(part, ScriptedCall):
                    return
        page = await asyncio.to_thread(self._arrange, await look.result())
        if self._is_written:
            for part in await self._check_page(page):
                yield part
            return
        if not self._request.calls_of("extract_assets"):
            yield Think(describe_detection(page.detection))
        for part in await self._write_page(page):
            yield part

    async def _report_progress(self, look: DetectionJob) -> AsyncGenerator[Part]:
        """Report the steps of the detection; the first time, end with a sketch as soon as there is one."""
        lines = ProgressLines()
        fresh = not self._has_sketch  # steps before the sketch were reported with it
        async for progress in look.progress():
            line = lines.line(progress)
            if line and fresh:
                yield Think(line)
            if progress.detection is None:
                continue
            if fresh and self._write_tool is not None and not look.is_done and not self._is_project:
                draw = partial(self._sketch, progress.detection)
                sketch = await asyncio.to_thread(look.draw_sketch, self._request.stack, draw)
                yield ScriptedCall(self._write_tool, {"path": self._path, "content": sketch})
                return
            fresh = True

    def _sketch(self, rough: Detection) -> str:
        bars = tuple(Box(picture.rect, "#d5d9df", picture.radius) for picture in rough.pictures)
        sketch = replace(rough, boxes=(*rough.boxes, *bars), pictures=())
        text = str(write_files(arrange(sketch), self._request.stack)[self._entry])
        head, newline, rest = text.partition("\n")
        return f"{head}{newline}{SKETCH}\n{rest}"

    def _arrange(self, detection: Detection) -> Page:
        return apply_mode(arrange(detection), self._mode)

    async def _write_page(self, page: Page) -> list[Part]:
        """Make the calls that write first the pictures, in as many turns as they need, and then the page."""
        if self._write_tool is None:
            text = await asyncio.to_thread(self._text, page, embed_in_page(dict(page.assets)))
            return [f"```html\n{text.strip()}\n```\n\n{self._closing_message(page)}"]
        crops = extract_calls(self._request, page)
        if crops:
            return list(crops)
        carried = await asyncio.to_thread(self._carried, page)
        done = {str(write.call.input.get("path")) for write in self._request.calls_of(self._write_tool)}
        waiting = {path: text for path, text in carried.files.items() if path not in done}
        if self._is_project:
            waiting |= {path: text for path, text in self._sources(page, carried).items() if path not in done}
        waiting[self._path] = await asyncio.to_thread(self._text, page, carried)
        room = _TURN
        calls: list[Part] = []
        for path, text in waiting.items():
            room -= len(text)
            if calls and room < 0:
                break
            calls.append(ScriptedCall(self._write_tool, {"path": path, "content": text}))
        return calls

    def _carried(self, page: Page) -> PictureFiles:
        """Encode the pictures as files, except those that the tool has cut out."""
        if self._request.stack == "svg":
            return PictureFiles({}, {})
        saved = extracted_paths(self._request, page)
        files = encode_as_files({path: data for path, data in page.assets if path not in saved})
        if self._is_project:
            return PictureFiles({f"{PUBLIC}{path}": text for path, text in files.files.items()}, files.places)
        return files.with_prefix(asset_prefix(self._path)) if self._request.path else files

    def _sources(self, page: Page, carried: PictureFiles) -> dict[str, str]:
        """Return the files of a project beside its entry: components, data, styles."""
        written = write_files(page, self._request.stack)
        texts = {path: text for path, text in written.items() if isinstance(text, str) and path != self._entry}
        return {path: carried.fill(text) for path, text in texts.items() if not path.startswith(PUBLIC)}

    def _text(self, page: Page, carried: PictureFiles) -> str:
        text = carried.fill(str(write_files(page, self._request.stack)[self._entry]))
        return link_pages(text, [path for path, _ in self._request.pages])

    async def _check_page(self, page: Page) -> list[Part]:
        """Compare the written page with the picture, correct it if possible, and end."""
        looked = self._request.calls_of("screenshot_preview", "compare_with_target")
        if not looked:
            calls: list[Part] = [ScriptedCall(name, {}) for name in _CHECK_TOOLS if self._request.has(name)]
            return calls or [self._closing_message(page)]
        rounds = self._rounds()
        failed = next(
            (finished for finished in looked if finished.call.name == _CHECK_TOOLS[1] and not finished.ok), None
        )
        if failed is not None or not rounds.scores or any(not finished.ok for finished in rounds.edits):
            why = [f"It was not compared: {first_line(failed.result.text)}"] if failed is not None else []
            return [self._closing_message(page, rounds, why)]
        if rounds.is_decided or (not rounds.edits and rounds.scores[0] >= GOOD):
            return [self._closing_message(page, rounds)]
        if len(rounds.edits) == len(rounds.scores):
            return [ScriptedCall(_CHECK_TOOLS[1], {})]
        states = await asyncio.to_thread(self._states, page, rounds)
        if rounds.got_worse:
            return self._edit(states[-1], states[-2]) or [self._closing_message(page, rounds)]
        better = correct_page(states[-1], rounds.compared[-1], self._mode) if len(rounds.edits) < ROUNDS else None
        calls = self._edit(states[-1], better) if better is not None else []
        return calls or [self._closing_message(page, rounds)]

    def _rounds(self) -> _Rounds:
        reports = [finished.result.data for finished in self._request.calls_of("compare_with_target") if finished.ok]
        compared = [msgspec.convert(data, PageComparison) for data in reports if data is not None]
        return _Rounds(self._request.calls_of("edit_file"), compared)

    def _states(self, page: Page, rounds: _Rounds) -> list[Page]:
        states = [page]
        for compared in rounds.compared[: len(rounds.edits)]:
            states.append(correct_page(states[-1], compared, self._mode) or states[-1])
        return states

    def _edit(self, now: Page, then: Page) -> list[Part]:
        if not self._request.has("edit_file") or self._is_project:
            return []
        carried = self._carried(now)
        edits = edits_between(self._text(now, carried), self._text(then, carried))
        return [ScriptedCall("edit_file", {"path": self._path, "edits": edits})] if edits else []

    @property
    def _is_project(self) -> bool:
        """Whether the page is a project of several files."""
        return self._request.stack in PROJECTS

    @property
    def _entry(self) -> str:
        return ENTRIES.get(self._request.stack, "index.html")

    @property
    def _path(self) -> str:
        return self._request.path or self._entry

    @property
    def _page_calls(self) -> list[FinishedCall]:
        calls = self._request.calls_of("create_file", "write_file")
        return [finished for finished in calls if finished.call.input.get("path") == self._path]

    @property
    def _has_sketch(self) -> bool:
        return any(SKETCH in str(finished.call.input.get("content")) for finished in self._page_calls)

    @property
    def _is_written(self) -> bool:
        return any(SKETCH not in str(finished.call.input.get("content")) for finished in self._page_calls)

    def _closing_message(self, page: Page, rounds: _Rounds | None = None, remarks: list[str] | None = None) -> str:
        notes = list(remarks or [])
        if len(self._request.pages) > 1:
            notes.append(f"Each picture became a page: {', '.join(path for path, _ in self._request.pages)}.")
        if self._request.images > 1:
            notes.append(f"I used the first of the {self._request.images} pictures.")
        if len(self._request.instruction.split()) > _FEW:
            notes.append("I used the picture only: following the text needs a language model.")
        if rounds is None:
            return describe_page(page, self._path, self._mode, remarks=notes)
        count = len(rounds.edits) - 2 * rounds.is_decided
        return describe_page(page, self._path, self._mode, scores=rounds.scores, remarks=notes, rounds=count)


_ONE_PAGE = "The local converter writes a project with one page, by tools; choose another stack, or a model."
_CHECK_TOOLS = ("screenshot_preview", "compare_with_target")
_FEW = 3  # an instruction with more words than “Build this page” gets a note


def _picture_data(image: Image | None) -> bytes:
    data = image.data if image is not None else None
    if not data:
        raise UnreadablePicture("The picture is only named by an address; the local converter needs the file itself.")
    if len(data) > _LONGEST:
        raise UnreadablePicture("The picture is too large; use one of at most 40 MB.")
    try:
        return base64.b64decode(data, validate=True)
    except ValueError:
        raise UnreadablePicture("The picture is not whole: its base64 cannot be read; send it again.") from None
