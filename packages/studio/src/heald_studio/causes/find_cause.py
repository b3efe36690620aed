"""Finds the cause of an element: renders its page, and looks the lines that make it up in the logs."""

import asyncio
from collections.abc import Mapping, Sequence

from heald.core.errors import NotFound
from heald.sessions.store import Store
from heald_studio.browser.browser import shared_browser
from heald_studio.browser.page import ORIGIN, Viewport
from heald_studio.browser.render import RenderRequest, wait_stable
from heald_studio.browser.tab import Tab
from heald_studio.causes.blame import blame_lines
from heald_studio.causes.cause import Cause, CauseLine, CauseLines, CausePlace
from heald_studio.causes.element_place import place_element
from heald_studio.causes.picture_parts import read_parts
from heald_studio.causes.rendered_texts import RenderedTexts, read_texts
from heald_studio.causes.source_lines import SourceLines, StyleRule, markup_lines, read_style_rules, style_lines
from heald_studio.causes.writings import FileStates, Writing, read_writings
from heald_studio.preview.preview import PAGE, ProjectPreview
from heald_studio.projects.project import Project, TargetPicture, VariantRef, find_version
from heald_studio.prompt.history import decode_text
from heald_studio.stacks.stack import Stack

MAX_LINES = 400  # of an element's markup
_MAX_LINE = 500  # characters of a line
_MAX_TEXT = 300
_WIDEST = 1920
_USUAL = 1280


class NoSuchElement(NotFound):
    """The page has no such element."""


async def find_cause(
    store: Store, stack: Stack, project: Project, base: VariantRef, files: Mapping[str, bytes], path: str, page: str
) -> Cause:
    """Find the cause of an element. Raises NoSuchElement, and BrowserError if the page cannot be rendered."""
    target = _target_of(project, base, page)
    ratio = target.ratio if target is not None else 1
    width = min(max(target.width // ratio, 320), _WIDEST) if target is not None else _USUAL
    texts, rules = await _read_page(stack, files, page, path, width)
    element = texts.element
    if element is None:
        raise NoSuchElement("The page has no such element; reload the preview and select it again.")
    place = None
    if target is not None:
        parts = await read_parts(await store.blob(project.id, target.blob))
        size = target.width / ratio, target.height / ratio
        element_place = await asyncio.to_thread(place_element, texts, element, parts, *size)
        rect = element_place.rect
        place = CausePlace(
            picture=target.blob,
            width=target.width,
            height=target.height,
            rect=(rect.x * ratio, rect.y * ratio, rect.w * ratio, rect.h * ratio),
            found_by=element_place.found_by,
            likeness=element_place.likeness,
        )
    source = page or (stack.entry if stack.entry in files else PAGE)
    markup = markup_lines(files, source, element.path, element.mark)
    parts_of_source = [*([markup] if markup is not None else []), *style_lines(files, rules)]
    states = await read_writings(store, project, base)
    lines, writings = await asyncio.to_thread(_blame, files, states, parts_of_source)
    words = " ".join(texts.texts[number].text for number in element.texts)
    return Cause(
        path=element.path, tag=element.tag, text=words[:_MAX_TEXT], place=place, lines=lines, writings=writings
    )


def _target_of(project: Project, base: VariantRef, page: str) -> TargetPicture | None:
    """Return the picture that a page was built from: the one whose label names it, or the first."""
    pictures = find_version(project, base).pictures or project.targets
    stem = page.rpartition("/")[2].partition(".")[0].casefold()
    labelled = next((picture for picture in pictures if stem and stem in picture.label.casefold()), None)
    return labelled or next(iter(pictures), None)


async def _read_page(
    stack: Stack, files: Mapping[str, bytes], page: str, path: str, width: int
) -> tuple[RenderedTexts, list[StyleRule]]:
    request = RenderRequest(ORIGIN + (page or PAGE).lstrip("/"), Viewport(width, 800), mobile=width < 600)

    async def work(tab: Tab, request: RenderRequest) -> tuple[RenderedTexts, list[StyleRule]]:
        await tab.navigate(request.url, None)
        await wait_stable(tab, request)
        texts = await read_texts(tab, path)
        return texts, await read_style_rules(tab, path) if texts.element is not None else []

    return await shared_browser().examine(ProjectPreview(stack, files), request, work)


def _blame(
    files: Mapping[str, bytes], states: FileStates, parts: Sequence[SourceLines]
) -> tuple[list[CauseLines], list[Writing]]:
    """Return the lines of an element with what wrote each, and the list of that, the most frequent first."""
    counts: dict[Writing, int] = {}
    writers: dict[str, list[Writing]] = {}
    blamed: list[tuple[SourceLines, list[tuple[int, str, Writing]], int]] = []
    for part in parts:
        texts = (decode_text(files.get(part.file, b"")) or "").splitlines()
        if part.file not in writers:
            contents = [(writing, decode_text(data) or "") for writing, data in states.get(part.file, [])]
            writers[part.file] = blame_lines(contents)
        history = writers[part.file]
        numbers = range(part.first, min(part.last, len(texts), len(history)) + 1)
        lines = [(number, texts[number - 1][:_MAX_LINE], history[number - 1]) for number in numbers]
        weight = 1 if part.kind == "style" else 1000  # those who wrote the markup come first
        for _, _, writing in lines:
            counts[writing] = counts.get(writing, 0) + weight
        blamed.append((part, lines[:MAX_LINES], len(lines) - min(len(lines), MAX_LINES)))
    ordered = sorted(counts, key=lambda writing: -counts[writing])
    places = {writing: number for number, writing in enumerate(ordered)}
    result = [
        CauseLines(part.file, part.kind, [CauseLine(number, text, places[by]) for number, text, by in lines], cut)
        for part, lines, cut in blamed
    ]
    return result, ordered
