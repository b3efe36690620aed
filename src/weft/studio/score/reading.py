"""Text of a bare picture, read from it: for targets that are screenshots and have no document.

It is read by the same eyes as the local converter's, which remember the last pictures: a target is read once. What
they cannot read for certain, and writing in photographs, is no text here: it is compared as picture, on both sides.
"""

from threading import Lock

from weft.studio.browser.rendering import TextBlock
from weft.studio.score.picture import PictureError
from weft.vision import ModelsMissing, VisionError, see
from weft.vision.colours import parts

NO_READER = "Reading text from a picture needs the extra local; install it with: pip install 'weft[local]'."

_one_at_a_time = Lock()


def read_text(image: bytes) -> tuple[TextBlock, ...]:
    """The lines of text in a picture, in its own pixels. It takes some seconds the first time."""
    try:
        with _one_at_a_time:
            seen = see(image)
    except ModelsMissing:
        raise PictureError(NO_READER) from None
    except VisionError as error:
        raise PictureError(str(error)) from None
    lines = [line for text in seen.texts for line in text.lines]
    scale = seen.ratio
    found = [
        TextBlock(
            line.text,
            line.rect.x * scale,
            line.rect.y * scale,
            line.rect.w * scale,
            line.rect.h * scale,
            parts(line.style.colour),
        )
        for line in lines
    ]
    return tuple(sorted(found, key=lambda line: (line.y, line.x)))
