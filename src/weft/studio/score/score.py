"""The visual score of a rendering against its target, as Design2Code (Si et al. 2024) defines it.

Text blocks of both are matched; then `block` is the area of matched blocks over the area of all blocks of both sides,
and over the matched pairs `text` is the mean likeness of the texts (Sørensen-Dice on characters), `position` the mean
of 1 - max(|Δx|, |Δy|) between centres in widths and heights of the pictures, `colour` the mean of 1 - CIEDE2000 / 100
of the text colours. `overall` is the mean of the five. Equal pictures have exactly 1 in each.

What differs from the paper, and why:

- Its fifth figure is the cosine of CLIP features of the pictures without their text. A model of some hundred megabytes
  is out of proportion here, so `ssim` takes its place: structural similarity of the same pictures, text painted over.
- Blocks come from the document (or from reading the picture), not from two renderings with shifted text colours; lines
  are first put together to paragraphs by geometry, so that another line break alone costs nothing.
- Among equal texts the nearer pair is preferred; the paper looks at the texts of the neighbours. That costs one
  assignment instead of many.
- Where both sides have no text at all the four figures are 1, not 0.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.block import blocks_of
from weft.studio.score.canvas import aligned, without_text
from weft.studio.score.colour import distance
from weft.studio.score.difference import Difference, differences
from weft.studio.score.matching import Matching, match
from weft.studio.score.picture import Picture, Pixels, pixels_of
from weft.studio.score.reading import read_text
from weft.studio.score.ssim import similarity_map

Read = Callable[[bytes], Sequence[TextBlock]]
"""Reads the text of a picture."""


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """Each figure from 0 to 1, 1 for equal."""

    block: float
    text: float
    position: float
    colour: float
    ssim: float
    differences: tuple[Difference, ...] = ()

    @property
    def overall(self) -> float:
        return (self.block + self.text + self.position + self.colour + self.ssim) / 5


def score(target: Picture, rendering: Picture, *, read: Read = read_text) -> Score:
    """How close the rendering comes to the target, and where it does not. It takes a while: run it in a thread."""
    pixels = pixels_of(target.image), pixels_of(rendering.image)
    texts = _texts(target, read), _texts(rendering, read)
    sizes = _size(pixels[0]), _size(pixels[1])
    matching = match(blocks_of(texts[0], pixels[0]), blocks_of(texts[1], pixels[1]), *sizes)
    bare = aligned(without_text(pixels[0], texts[0]), without_text(pixels[1], texts[1]))
    likeness = similarity_map(*bare)
    block, text, position, colour = _of_blocks(matching)
    return Score(
        block=block,
        text=text,
        position=position,
        colour=colour,
        ssim=min(1.0, max(0.0, float(np.mean(likeness)))),
        differences=differences(matching, likeness, bare, sizes),
    )


def _of_blocks(matching: Matching) -> tuple[float, float, float, float]:
    matched = sum(pair.target.area + pair.rendered.area for pair in matching.pairs)
    other = sum(block.area for block in (*matching.missing, *matching.extra))
    if not matched and not other:
        return 1.0, 1.0, 1.0, 1.0
    if not matched:
        return 0.0, 0.0, 0.0, 0.0
    colours = [max(0.0, 1 - distance(pair.target.colour, pair.rendered.colour) / 100) for pair in matching.pairs]
    return (
        matched / (matched + other),
        _mean([pair.text for pair in matching.pairs]),
        _mean([pair.position for pair in matching.pairs]),
        _mean(colours),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _texts(picture: Picture, read: Read) -> Sequence[TextBlock]:
    return picture.texts if picture.texts is not None else read(picture.image)


def _size(pixels: Pixels) -> tuple[int, int]:
    return pixels.shape[1], pixels.shape[0]
