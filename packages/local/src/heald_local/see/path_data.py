"""Writes lines and curves as the data of an SVG path."""

from collections.abc import Sequence

from heald_local.see.curves import LINE, Points, Segment

UNIT = 10  # steps of a pixel in which the data of a path is written


def open_path_data(segments: Sequence[Segment]) -> str:
    """Return the data of a path that is not closed."""
    return _outline_data(segments, 1.0).removesuffix("z")


def path_data(outlines: Sequence[Sequence[Segment]], scale: float = 1.0) -> str:
    """Return the data of a path, in steps of a tenth of a pixel; each outline is closed."""
    return "".join(_outline_data(segments, scale) for segments in outlines if segments)


def _outline_data(segments: Sequence[Segment], scale: float) -> str:
    """Write one outline: where it begins, and each line and curve from where the last one ended."""
    at = _tenths(segments[0][0], scale)
    start, text, last = at, "M" + _join_numbers(at), ""
    for number, segment in enumerate(segments):
        points = [_tenths(point, scale) for point in segment[1:]]
        if len(segment) == LINE and (points[-1] == at or (number == len(segments) - 1 and points[-1] == start)):
            continue
        command = "l" if len(segment) == LINE else "c"
        steps = [part - at[axis] for point in points for axis, part in enumerate(point)]
        written = _join_numbers(steps)
        text += command + written if command != last else (written if written.startswith("-") else f" {written}")
        at, last = points[-1], command
    return f"{text}z"


def _tenths(point: Points, scale: float) -> tuple[int, int]:
    return round(UNIT * float(point[0]) * scale), round(UNIT * float(point[1]) * scale)


def _join_numbers(tenths: Sequence[int]) -> str:
    """Write numbers without what SVG does not need: a zero before a point, a space before a sign."""
    text = ""
    for value in tenths:
        whole, part = divmod(abs(value), UNIT)
        number = ("-" if value < 0 else "") + (str(whole) if whole or not part else "") + (f".{part}" if part else "")
        text += number if not text or number.startswith("-") else f" {number}"
    return text


def format_number(value: float) -> str:
    """Write a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
