"""Scores a rendering against its target: text by blocks, the rest by shapes, and both by the area that changed."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from heald_studio.browser.page import TextBlock
from heald_studio.score.alignment import align_sizes, paint_over_text
from heald_studio.score.blocks import find_blocks
from heald_studio.score.changed_area import ChangedArea, find_changed_area
from heald_studio.score.colour_distance import colour_distance
from heald_studio.score.differences import Difference, find_differences
from heald_studio.score.heat_map import shows_red
from heald_studio.score.matching import Matching, Pair, Size, match_blocks
from heald_studio.score.page_image import PageImage, Pixels, decode_pixels
from heald_studio.score.ssim import Map, ssim_map
from heald_studio.score.text_reader import read_text

Read = Callable[[bytes], Sequence[TextBlock]]
"""A function that reads the text of a picture."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The figures, each from 0 to 1 for equal."""

    block: float
    text: float
    position: float
    colour: float
    style: float = 1.0
    """Bold and italic text, where both sides are known."""
    shapes: float = 1.0
    """What is not text: boxes, pictures, icons and lines, by place, size, colour and outline."""
    ssim: float
    """The structural similarity of what is not text, where either picture has something."""
    changed: float = 0.0
    """The share of the area that changed. Text that only moved is not part of it."""
    red: bool = False
    """Whether the map of the differences has red in it."""
    unread: int = 0
    """Places of the target that look like text, could not be read and are not text on the page; they are missing."""
    differences: tuple[Difference, ...] = ()

    @property
    def overall(self) -> float:
        """The mean of the figures, less the area that changed; 1 only if the map of the differences shows nothing."""
        figures = self.block, self.text, self.position, self.colour, self.style, self.shapes, self.ssim
        whole = sum(figures) / len(figures) * (1 - self.changed)
        return min(whole, _FAULTY) if self.red else whole


_FAULTY = 0.999
"""The most that a page with a visible difference scores."""


def score(target: PageImage, rendering: PageImage, *, read: Read = read_text) -> Score:
    """Score a rendering against its target and find the differences. Slow: run it in a thread."""
    pixels = decode_pixels(target.image), decode_pixels(rendering.image)
    page_texts = _texts(target, read), _texts(rendering, read)
    texts = [text for text in page_texts[0] if text.text], [text for text in page_texts[1] if text.text]
    sizes = _size(pixels[0]), _size(pixels[1])
    unread = find_unexplained([text for text in page_texts[0] if not text.text], texts[1], *sizes)
    matching = match_blocks(find_blocks(texts[0], pixels[0]), find_blocks(texts[1], pixels[1]), *sizes)
    bare = align_sizes(paint_over_text(pixels[0], texts[0]), paint_over_text(pixels[1], texts[1]))
    likeness = ssim_map(*bare)
    area = find_changed_area(*bare)
    unread_area = sum(place.w * place.h for place in unread)
    block, text, position, colour = _block_figures(matching, unread_area)
    changed_text = _changed_text_share(matching, *sizes) + unread_area / (sizes[0][0] * sizes[0][1])
    return Score(
        block=block,
        text=text,
        position=position,
        colour=colour,
        style=_style_similarity(matching),
        shapes=area.shape_similarity,
        ssim=_content_similarity(likeness, area),
        changed=min(1.0, area.share + changed_text),
        red=shows_red(*align_sizes(*pixels)),
        unread=len(unread),
        differences=find_differences(matching, likeness, bare, sizes, unread),
    )


def find_unexplained(
    unread: Sequence[TextBlock], rendered: Sequence[TextBlock], target_size: Size, rendered_size: Size
) -> list[TextBlock]:
    """Return the unread places of the target where the rendering has no text either."""
    across, down = target_size[0] / rendered_size[0], target_size[1] / rendered_size[1]
    return [place for place in unread if _covered_part(place, rendered, across, down) < _EXPLAINED]


_EXPLAINED = 0.5
"""The part of an unread place from which text of the rendering explains it."""


def _covered_part(place: TextBlock, texts: Sequence[TextBlock], across: float, down: float) -> float:
    covered = 0.0
    for text in texts:
        wide = min(place.x + place.w, (text.x + text.w) * across) - max(place.x, text.x * across)
        high = min(place.y + place.h, (text.y + text.h) * down) - max(place.y, text.y * down)
        if wide > 0 and high > 0:
            covered += wide * high
    return covered / max(place.w * place.h, 1.0)


def _block_figures(matching: Matching, unread: float) -> tuple[float, float, float, float]:
    """Return block, text, position and colour; `unread` is the area of text that could not be read."""
    matched = sum(pair.target.area + pair.rendered.area for pair in matching.pairs)
    other = sum(block.area for block in (*matching.missing, *matching.extra)) + unread
    if not matched and not other:
        return 1.0, 1.0, 1.0, 1.0
    if not matched:
        return 0.0, 0.0, 0.0, 0.0
    colours = [max(0.0, 1 - colour_distance(pair.target.colour, pair.rendered.colour) / 100) for pair in matching.pairs]
    return (
        matched / (matched + other),
        _mean([pair.text for pair in matching.pairs]),
        _mean([pair.position for pair in matching.pairs]),
        _mean(colours),
    )


def _style_similarity(matching: Matching) -> float:
    """Return how much of the matched text is as bold and as italic as in the target."""
    areas = sum(pair.target.area for pair in matching.pairs)
    return 1 - sum(pair.target.area * _style_distance(pair) for pair in matching.pairs) / areas if areas else 1.0


def _style_distance(pair: Pair) -> float:
    """Return the share of a text that is bold or italic on one side only; 0 where it is unknown."""
    shares = (pair.target.bold, pair.rendered.bold), (pair.target.italic, pair.rendered.italic)
    return max(abs(share - other) if share is not None and other is not None else 0.0 for share, other in shares)


def _changed_text_share(matching: Matching, target_size: Size, rendered_size: Size) -> float:
    """Return the share of the page with text that is missing, extra, or not the same."""
    missing = sum(block.area for block in matching.missing)
    unlike = sum(pair.target.area * (1 - _likeness(pair)) for pair in matching.pairs)
    extra = sum(block.area for block in matching.extra)
    return (missing + unlike) / (target_size[0] * target_size[1]) + extra / (rendered_size[0] * rendered_size[1])


def _likeness(pair: Pair) -> float:
    colours = max(0.0, 1 - colour_distance(pair.target.colour, pair.rendered.colour) / 100)
    return pair.text * colours * (1 - _style_distance(pair))


def _content_similarity(likeness: Map, area: ChangedArea) -> float:
    """Return the mean structural similarity where either picture has something; 1 if neither has."""
    if not area.content.any():
        return 1.0
    return min(1.0, max(0.0, float(np.mean(likeness[area.content]))))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _texts(picture: PageImage, read: Read) -> Sequence[TextBlock]:
    return picture.texts if picture.texts is not None else read(picture.image)


def _size(pixels: Pixels) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]
