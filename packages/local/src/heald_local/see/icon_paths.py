"""Reads the shapes of icons, such as the data of SVG paths, as lines of points."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

FLAT = 0.025  # units by which the points of a curve may cut its bends off

Point = tuple[float, float]
_COMMAND = re.compile(r"([MmLlHhVvCcSsQqTtAaZz])([^MmLlHhVvCcSsQqTtAaZz]*)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ARC = re.compile(
    rf"\s*,?\s*({_NUMBER.pattern})[\s,]*({_NUMBER.pattern})[\s,]*({_NUMBER.pattern})[\s,]*([01])[\s,]*([01])[\s,]*({_NUMBER.pattern})[\s,]*({_NUMBER.pattern})"
)
_COUNTS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}


@dataclass(frozen=True, slots=True)
class Line:
    """Points that follow each other, and whether the last is joined to the first."""

    points: tuple[Point, ...]
    closed: bool


def read_shape(tag: str, attributes: Mapping[str, str]) -> list[Line]:
    """Return the lines of an SVG shape; none if it is of another kind."""
    number = {name: float(value) for name, value in attributes.items() if _NUMBER.fullmatch(value)}
    match tag:
        case "path":
            return list(_Pen().follow(attributes["d"]))
        case "circle" | "ellipse":
            across, down = number.get("r", 0.0) or number.get("rx", 0.0), number.get("r", 0.0) or number.get("ry", 0.0)
            return [_read_ellipse(number.get("cx", 0.0), number.get("cy", 0.0), across, down)]
        case "rect":
            return [_read_rect(number)]
        case "line":
            return [Line(((number["x1"], number["y1"]), (number["x2"], number["y2"])), False)]
        case "polyline" | "polygon":
            values = [float(value) for value in _NUMBER.findall(attributes["points"])]
            return [Line(tuple(zip(values[::2], values[1::2], strict=True)), tag == "polygon")]
        case _:
            return []


def _read_ellipse(x: float, y: float, across: float, down: float) -> Line:
    count = _count_steps(max(across, down), 2 * math.pi)
    turns = [number * 2 * math.pi / count for number in range(count)]
    return Line(tuple((x + across * math.cos(turn), y + down * math.sin(turn)) for turn in turns), True)


def _read_rect(number: Mapping[str, float]) -> Line:
    x, y, w, h = (number.get(name, 0.0) for name in ("x", "y", "width", "height"))
    bend = min(number.get("rx", number.get("ry", 0.0)), w / 2, h / 2)
    if not bend:
        return Line(((x, y), (x + w, y), (x + w, y + h), (x, y + h)), True)
    middles = ((x + w - bend, y + bend), (x + w - bend, y + h - bend), (x + bend, y + h - bend), (x + bend, y + bend))
    points: list[Point] = []
    steps = _count_steps(bend, math.pi / 2)
    for corner, (across, down) in enumerate(middles):
        turns = ((corner - 1 + part / steps) * math.pi / 2 for part in range(steps + 1))
        points += [(across + bend * math.cos(turn), down + bend * math.sin(turn)) for turn in turns]
    return Line(tuple(points), True)


def _count_steps(radius: float, turn: float) -> int:
    """Return the number of straight pieces that an arc is drawn with."""
    piece = 2 * math.acos(max(1 - FLAT / max(radius, FLAT), 0.0))
    return max(math.ceil(abs(turn) / piece), 2)


class _Pen:
    """Follows the commands of a path and keeps where it stands."""

    def __init__(self) -> None:
        self._at = self._start = (0.0, 0.0)
        self._control: Point | None = None  # the last control point of a curve
        self._curve = ""
        self._points: list[Point] = []

    def follow(self, data: str) -> Iterator[Line]:
        for command, text in _COMMAND.findall(data):
            name = command.upper()
            if name == "Z":
                yield from self._finish(True)
                self._at, self._curve = self._start, ""
                continue
            for number, values in enumerate(_arguments(name, text)):
                if name == "M" and number == 0:
                    yield from self._finish(False)
                    self._move(values, command.islower())
                else:
                    self._draw("L" if name == "M" else name, values, command.islower())
        yield from self._finish(False)

    def _finish(self, closed: bool) -> Iterator[Line]:
        if len(self._points) > 1 or closed:
            yield Line(tuple(self._points), closed)
        self._points = []

    def _move(self, values: Sequence[float], relative: bool) -> None:
        origin = self._at if relative else (0.0, 0.0)
        self._at = self._start = (origin[0] + values[0], origin[1] + values[1])
        self._points, self._curve = [self._at], ""

    def _draw(self, name: str, values: Sequence[float], relative: bool) -> None:
        if not self._points:
            self._points = [self._at]
        x, y = self._at if relative else (0.0, 0.0)
        if name == "H":
            self._reach((x + values[0], self._at[1]))
        elif name == "V":
            self._reach((self._at[0], y + values[0]))
        elif name == "A":
            self._arc(values, (x + values[5], y + values[6]))
        elif name == "L":
            self._reach((x + values[0], y + values[1]))
        else:
            points = [(x + values[at], y + values[at + 1]) for at in range(0, len(values), 2)]
            self._bend(name, points)
            return
        self._curve = ""

    def _reach(self, point: Point) -> None:
        self._at = point
        self._points.append(point)

    def _bend(self, name: str, points: list[Point]) -> None:
        kind = "C" if name in "CS" else "Q"
        if name in "ST":
            x, y = self._at
            last = self._control if self._curve == kind and self._control is not None else self._at
            points = [(2 * x - last[0], 2 * y - last[1]), *points]
        begin, end = self._at, points[-1]
        self._control, self._curve = points[-2], kind
        if kind == "Q":
            middle = points[0]
            points = [_between(begin, middle), _between(end, middle), end]
        bend = max(math.dist(_middle(begin, points[1]), points[0]), math.dist(_middle(points[0], end), points[1]))
        steps = max(math.ceil(math.sqrt(bend / FLAT)), 2)
        for step in range(1, steps + 1):
            t, rest = step / steps, 1 - step / steps
            weights = (rest**3, 3 * t * rest**2, 3 * t**2 * rest, t**3)
            whole = (begin, *points)
            self._reach(
                (
                    sum(part * point[0] for part, point in zip(weights, whole, strict=True)),
                    sum(part * point[1] for part, point in zip(weights, whole, strict=True)),
                )
            )

    def _arc(self, values: Sequence[float], end: Point) -> None:
        """Follow an arc between two points (SVG 1.1, F.6.5)."""
        across, down, tilt = abs(values[0]), abs(values[1]), math.radians(values[2])
        begin = self._at
        if not across or not down or begin == end:
            self._reach(end)
            return
        cosine, sine = math.cos(tilt), math.sin(tilt)
        half = ((begin[0] - end[0]) / 2, (begin[1] - end[1]) / 2)
        x, y = cosine * half[0] + sine * half[1], -sine * half[0] + cosine * half[1]
        large = (x / across) ** 2 + (y / down) ** 2
        if large > 1:
            across, down = across * math.sqrt(large), down * math.sqrt(large)
        under = (across * y) ** 2 + (down * x) ** 2
        size = math.sqrt(max((across * down) ** 2 - under, 0.0) / under) * (1 if values[3] != values[4] else -1)
        cx, cy = size * across * y / down, -size * down * x / across
        first = math.atan2((y - cy) / down, (x - cx) / across)
        turn = math.atan2((-y - cy) / down, (-x - cx) / across) - first
        if values[4] and turn < 0:
            turn += 2 * math.pi
        elif not values[4] and turn > 0:
            turn -= 2 * math.pi
        middle = ((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)
        steps = _count_steps(max(across, down), turn)
        for step in range(1, steps):
            angle = first + turn * step / steps
            u, v = across * math.cos(angle) + cx, down * math.sin(angle) + cy
            self._reach((cosine * u - sine * v + middle[0], sine * u + cosine * v + middle[1]))
        self._reach(end)


def _between(end: Point, control: Point) -> Point:
    """Return the control point of the cubic curve that is a quadratic one."""
    return (end[0] + 2 * (control[0] - end[0]) / 3, end[1] + 2 * (control[1] - end[1]) / 3)


def _middle(start: Point, end: Point) -> Point:
    return (start[0] + end[0]) / 2, (start[1] + end[1]) / 2


def _arguments(name: str, text: str) -> Iterator[list[float]]:
    """Yield the numbers of each repetition of a command. The flags of an arc need no space behind them."""
    if name == "A":
        for arc in _ARC.finditer(text):
            yield [float(value) for value in arc.groups()]
        return
    values = [float(value) for value in _NUMBER.findall(text)]
    for at in range(0, len(values) - _COUNTS[name] + 1, _COUNTS[name]):
        yield values[at : at + _COUNTS[name]]
