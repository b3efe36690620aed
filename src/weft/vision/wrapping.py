"""Where a text breaks: the widths at which a browser wraps it as it was seen."""

from weft.vision.paragraphs import first_word
from weft.vision.seen import Text


def wrap_width(text: Text) -> tuple[float, float]:
    """The widths between which a browser breaks the text as it was seen: at least the first, less than the second."""
    least = max(line.rect.w for line in text.lines)
    pairs = zip(text.lines, text.lines[1:], strict=False)
    return least, min((one.rect.w + first_word(two) for one, two in pairs), default=float("inf"))


def broken(text: Text) -> tuple[str, ...]:
    """The text as one line if it wraps by itself as seen, else with its breaks."""
    least, most = wrap_width(text)
    if least + 1 < most:
        return (text.text,)
    return tuple(line.text for line in text.lines)
