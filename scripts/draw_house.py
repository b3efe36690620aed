"""Draws the plan of the house, docs/images/house.svg, from the table in docs/architecture.md."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parents[1] / "docs"
PLAN = DOCS / "images" / "house.svg"
WAY = ("wires", "agent", "sessions", "server")
"""The rooms that a delta goes through, from the provider's bytes to the client's socket."""

_LEFT, _WIDTH, _TOP, _FLOOR, _GAP = 70, 720, 74, 58, 8
_ROW = re.compile(r"^\| (\d) \| `(\w+)` \| (.*) \|$", re.M)
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #4a5263 }
  .name { font-weight: 600; font-size: 14px; fill: #1d2330 }
  .floor { font-size: 11px; fill: #6b7280 }
  .room { fill: #eef2f6; stroke: #c5ccd8 }
  .roof { fill: none; stroke: #c5ccd8; stroke-width: 2 }
  .way { fill: none; stroke: #2f6f8f; stroke-width: 2; stroke-dasharray: 5 4 }
  .dot { fill: #2f6f8f }
  .told { fill: #2f6f8f }
  @media (prefers-color-scheme: dark) {
    text { fill: #b4bccb }
    .name { fill: #f0f3f8 }
    .floor { fill: #98a2b3 }
    .room { fill: #1f2630; stroke: #3f4857 }
    .roof { stroke: #3f4857 }
    .way { stroke: #5fb0d3 }
    .dot, .told { fill: #5fb0d3 }
  }
"""

Place = tuple[float, float, float, float]


def floors() -> dict[int, list[tuple[str, str]]]:
    """The rooms of each floor with what they own, as the table has them."""
    found: dict[int, list[tuple[str, str]]] = {}
    for floor, room, owns in _ROW.findall((DOCS / "architecture.md").read_text("utf-8")):
        found.setdefault(int(floor), []).append((room, owns.replace("`", "")))
    return found


def draw() -> str:
    plan = floors()
    height = _TOP + len(plan) * _FLOOR + 16
    width = _LEFT + _WIDTH + 106
    places = {room: place for floor in plan for room, place in _places(floor, plan)}
    middle = _LEFT + _WIDTH / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="The floors of the house, and one delta on its way through them">',
        f"<style>{_STYLE}</style>",
        f'<path class="roof" d="M {_LEFT - 12} {_TOP - 4} L {middle} 10 L {_LEFT + _WIDTH + 12} {_TOP - 4}"/>',
    ]
    for floor, rooms in plan.items():
        y = _height_of(floor, plan) + _FLOOR / 2
        parts.append(f'<text class="floor" x="8" y="{y:.0f}">{f"floor {floor}" if floor else "ground"}</text>')
        parts += [part for room, owns in rooms for part in _room(room, owns, places[room], len(rooms))]
    return "\n".join([*parts, *_arrow(places, width), "</svg>", ""])


def _height_of(floor: int, plan: dict[int, list[tuple[str, str]]]) -> float:
    return _TOP + (max(plan) - floor) * _FLOOR


def _places(floor: int, plan: dict[int, list[tuple[str, str]]]) -> Iterator[tuple[str, Place]]:
    rooms = plan[floor]
    each = (_WIDTH - _GAP * (len(rooms) - 1)) / len(rooms)
    for number, (room, _) in enumerate(rooms):
        yield room, (_LEFT + number * (each + _GAP), _height_of(floor, plan), each, _FLOOR - _GAP)


def _room(room: str, owns: str, place: Place, beside: int) -> Iterator[str]:
    x, y, width, height = place
    yield f'<rect class="room" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4"/>'
    yield f'<text class="name" x="{x + 10:.1f}" y="{y + 20:.1f}">{room}</text>'
    if beside < 4:
        yield f'<text x="{x + 10:.1f}" y="{y + 38:.1f}">{escape(_short(owns, min(int((width - 60) / 6), 52)))}</text>'


def _short(text: str, most: int) -> str:
    """As many words as fit, and whole parts of the sentence where they do."""
    if len(text) <= most:
        return text
    cut = text[:most]
    for mark in (";", ":", ","):
        if mark in cut:
            return cut.rpartition(mark)[0]
    return cut.rpartition(" ")[0]


def _arrow(places: dict[str, Place], width: float) -> Iterator[str]:
    """Into the first room from the left, then up one staircase, and out of the last to the right."""
    x, y, room_width, height = places[WAY[0]]
    stairs = places["sessions"][0] + places["sessions"][2] - 22
    start, first = x + room_width - 22, y + height / 2
    above = [places[room][1] + places[room][3] / 2 for room in WAY[1:]]
    line = (
        f"M {_LEFT - 14} {first:.1f} H {start:.1f} V {y - _GAP / 2:.1f} H {stairs:.1f} V {above[-1]:.1f} H {width - 86}"
    )
    yield f'<path class="way" d="{line}"/>'
    for at, up in [(start, first), *((stairs, up) for up in above)]:
        yield f'<circle class="dot" cx="{at:.1f}" cy="{up:.1f}" r="5"/>'
    yield f'<text class="told" x="{_LEFT - 62}" y="{first + 18:.1f}">bytes in</text>'
    yield f'<text class="told" x="{width - 80}" y="{above[-1] + 4:.1f}">frames out</text>'


def main() -> int:
    PLAN.write_text(draw(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
