"""Reads the texts of a page: on its boxes, on panels and on photographs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from heald_local.see.cut_icons import find_cut_icons
from heald_local.see.face_fits import measure_glyphs
from heald_local.see.faint_text import read_faint_lines
from heald_local.see.ink import Ink
from heald_local.see.ink_pieces import find_ink
from heald_local.see.letter_spacing import complete_index, join_wide_spacing
from heald_local.see.line_marks import split_marks
from heald_local.see.memory import release_memory
from heald_local.see.ocr import OcrResult, crop_margin, read_whole_lines
from heald_local.see.overlap import MOSTLY, is_mostly_on
from heald_local.see.page_layers import PageLayers
from heald_local.see.panels import confirm_panels, is_on_panel
from heald_local.see.paragraphs import group_paragraphs
from heald_local.see.parts import FoundPart
from heald_local.see.photo_text import find_text_on_photos
from heald_local.see.rereading import read_across_grounds, read_cores, read_lone_syllables, read_short_words
from heald_local.see.screenshot import Screenshot
from heald_local.see.script_ocr import read_page_lines, replace_page_signs
from heald_local.see.styled_lines import is_certain_text, style_lines
from heald_local.see.typefaces import unify_typefaces
from heald_pictures.detector import Progress, Report
from heald_pictures.elements import Box, TextElement, TextLine
from heald_pictures.rect import Rect
from heald_pictures.regions import Pixels


@dataclass(frozen=True, slots=True, eq=False)
class PageTexts:
    """The texts of a page, and what was found while they were read."""

    texts: list[TextElement]
    lines: list[TextLine]
    panels: list[Box]  # those with text that was read for certain
    inks: list[Ink]  # all that looked like text
    photo_inks: list[Ink]  # those of them that lie on photographs
    unread: list[Ink]  # those that were not read, apart from photographs

    @property
    def photo_lines(self) -> list[TextLine]:
        """The lines that lie on photographs."""
        places = {ink.rect for ink in self.photo_inks}
        return [line for line in self.lines if line.ink in places]


def read_texts(
    shot: Screenshot,
    layers: PageLayers,
    inks: Sequence[Ink],
    places: Sequence[Rect],
    detected_lines: Sequence[Rect],
    parts: Sequence[FoundPart],
    report: Report,
) -> PageTexts:
    """Read all texts of a page.

    `inks` is what differs from the boxes at the `places` of text. These are the `detected_lines` without the icons and
    controls on them, which are some of the `parts`.
    """
    pixels, page, photos = shot.pixels, layers.page, layers.photos
    crop = partial(_crop, shot)
    plain_inks = [ink for ink in inks if is_on_panel(ink.rect, layers.panels) or not is_mostly_on(ink.rect, photos)]
    panel_places = [panel.rect for panel in layers.panels]
    free = [place for place in places if not is_mostly_on(place, panel_places)]
    plain_rects = [ink.rect for ink in plain_inks]
    covered = [place for place in free if any(place.holds(photo, 1) for photo in photos)]
    framed = [place for place in covered if _is_mostly_ink(place, plain_rects)]
    shaded = [place for place in covered if place not in framed]  # letters with a shadow look like a photograph
    frames = [photo for photo in photos if any(place.holds(photo, 1) for place in framed)]
    photo_inks = find_text_on_photos(pixels, [*free, *frames], [*photos, *shaded])
    all_inks = [*plain_inks, *photo_inks]
    readings = read_page_lines([crop(ink.rect) for ink in all_inks], partial(_report_reading, report))
    release_memory()
    pieces = list(zip(all_inks, readings, strict=True))
    cut_icons = find_cut_icons(detected_lines, parts)
    find_ink_at = partial(find_ink, pixels, page, boxes=layers.boxes)
    with_syllables = read_lone_syllables(pieces[: len(plain_inks)], cut_icons, find_ink_at, crop)
    with_words = read_short_words(with_syllables, cut_icons, find_ink_at, crop)
    plain_pieces = join_wide_spacing(complete_index(with_words), crop)
    text_pieces = [*split_marks(pixels, page, plain_pieces, layers.boxes), *pieces[len(plain_inks) :]]
    if not shot.lossy:
        text_pieces += read_faint_lines(pixels, page, [ink.rect for ink in all_inks], photos)
    read_closely = partial(_read_closely, crop)
    lines_so_far = style_lines(text_pieces, lambda part: report(Progress("typefaces", part)), read_closely)
    lines_so_far = read_cores(lines_so_far, pixels, page, free, crop)
    styled = read_across_grounds(lines_so_far, pixels, page, free, crop)
    photo_places = {ink.rect for ink in photo_inks}
    certain = [line for line in styled.lines if line.ink not in photo_places or is_certain_text(line)]
    panels, lines = confirm_panels(layers.panels, certain)
    unread = [ink for ink in styled.unread if ink.rect not in photo_places]
    texts = group_paragraphs(unify_typefaces(lines))
    return PageTexts(texts, lines, panels, all_inks, photo_inks, unread)


def _is_mostly_ink(place: Rect, inks: Sequence[Rect]) -> bool:
    """Whether most of a place's width has ink on the plain page: a photograph on it is the frame of a word."""
    return sum(rect.w for rect in inks if place.common(rect) > MOSTLY * rect.area) > MOSTLY * place.w


def _report_reading(report: Report, part: float, readings: Sequence[OcrResult]) -> None:
    report(Progress("reading", part))
    measure_glyphs(reading.text for reading in readings)


def _read_closely(crop: Callable[[Rect], Pixels], inks: Sequence[Ink]) -> list[OcrResult]:
    return replace_page_signs(read_whole_lines([crop(ink.rect) for ink in inks]))


def _crop(shot: Screenshot, rect: Rect) -> Pixels:
    """Return the pixels of a line with a margin, at the screenshot's own resolution."""
    height, width = shot.pixels.shape[:2]
    part = rect.grown(crop_margin(rect)).within(width, height)
    ratio = shot.ratio
    top, bottom = int(part.y) * ratio, round(part.bottom) * ratio
    left, right = int(part.x) * ratio, round(part.right) * ratio
    return shot.fine[top:bottom, left:right]
