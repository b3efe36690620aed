"""The chart of docs/benchmarks.md, drawn from figures.json: a panel for each scenario, on a logarithmic scale.

python -m benchmarks.chart            draw it anew, and put the table into docs/benchmarks.md
python -m benchmarks.chart --check    only say whether chart and table are those of the figures
"""

import argparse
import re
import sys
from collections.abc import Iterator
from math import log10
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks import fan_out_figures, served_figures
from benchmarks.figures import ROWS, SCENARIOS, Figures, Range, costs_table, read

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "docs" / "images" / "costs.svg"
PAGE = ROOT / "docs" / "benchmarks.md"
_TABLE = re.compile(rf"^\| row \| {next(iter(SCENARIOS.values()))} \|.*\n(?:\|.*\n)*", re.M)

_LABELS, _PANEL, _GAP, _HEAD, _ROW, _FOOT = 188, 176, 18, 44, 24, 40
_LEAST, _MOST = 0.3, 1000.0
_TICKS = (1.0, 10.0, 100.0)
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #3d4451 }
  .head { font-weight: 600; fill: #1d2330 }
  .tick { font-size: 10px; fill: #6b7280 }
  .line { stroke: #d5d9e0 }
  .bare { stroke: #6b7280; stroke-dasharray: 3 2 }
  .peer { fill: #a9b4c6 }
  .ours { fill: #2f6f8f }
  @media (prefers-color-scheme: dark) {
    text { fill: #c3cad6 }
    .head { fill: #f0f3f8 }
    .tick { fill: #98a2b3 }
    .line { stroke: #3a4250 }
    .bare { stroke: #98a2b3 }
    .peer { fill: #667085 }
    .ours { fill: #5fb0d3 }
  }
"""


def draw(figures: Figures) -> str:
    """The whole picture, as SVG."""
    width = _LABELS + len(figures.scenarios) * (_PANEL + _GAP)
    height = _HEAD + len(ROWS) * _ROW + _FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="CPU as a multiple of a bare loop, by library and scenario">',
        f"<style>{_STYLE}</style>",
        *_labels(),
    ]
    for number, (scenario, title) in enumerate(figures.scenarios.items()):
        parts += _panel(figures, scenario, title, _LABELS + number * (_PANEL + _GAP))
    note = f"CPU as a multiple of a bare loop (dashed line: 1), logarithmic. Measured {figures.measured}."
    parts.append(f'<text class="tick" x="0" y="{height - 8}">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _labels() -> Iterator[str]:
    for number, title in enumerate(ROWS.values()):
        yield f'<text x="{_LABELS - 10}" y="{_middle(number) + 4}" text-anchor="end">{escape(title)}</text>'


def _panel(figures: Figures, scenario: str, title: str, left: int) -> Iterator[str]:
    bottom = _HEAD + len(ROWS) * _ROW
    yield f'<text class="head" x="{left}" y="16">{escape(title)}</text>'
    for tick in _TICKS:
        at, kind = left + _along(tick), "bare" if tick == 1 else "line"
        yield f'<line class="{kind}" x1="{at:.1f}" x2="{at:.1f}" y1="{_HEAD - 8}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{at:.1f}" y="{_HEAD - 12}" text-anchor="middle">{tick:g}×</text>'
    for number, row in enumerate(ROWS):
        multiples = figures.get(row, scenario)
        if multiples is not None:
            yield _bar(multiples, left, number, "ours" if row.startswith("heald") else "peer")


def _bar(multiples: Range, left: int, number: int, kind: str) -> str:
    """From the least to the most that was measured: a mark where both are the same."""
    low, high = (_along(times) for times in multiples)
    start, length = (low, high - low) if high - low > 4 else ((low + high) / 2 - 2, 4.0)
    place = f'x="{left + start:.1f}" y="{_middle(number) - 6}" width="{length:.1f}" height="12"'
    return f'<rect class="{kind}" {place} rx="2"><title>{multiples[0]:.3g} to {multiples[1]:.3g}</title></rect>'


def _middle(number: int) -> int:
    return _HEAD + number * _ROW + _ROW // 2


def _along(times: float) -> float:
    place = min(max(times, _LEAST), _MOST)
    return _PANEL * (log10(place) - log10(_LEAST)) / (log10(_MOST) - log10(_LEAST))


def stale(figures: Figures) -> list[str]:
    """What is not as the figures have it."""
    problems: list[str] = []
    if not CHART.is_file() or CHART.read_text("utf-8") != draw(figures):
        problems.append(
            "docs/images/costs.svg is not drawn from benchmarks/figures.json; run python -m benchmarks.chart."
        )
    if costs_table(figures) not in PAGE.read_text("utf-8"):
        problems.append(
            "docs/benchmarks.md does not hold the table of benchmarks/figures.json; run python -m benchmarks.chart."
        )
    if served_figures.table(served_figures.read()) not in PAGE.read_text("utf-8"):
        problems.append(
            "docs/benchmarks.md does not hold the table of benchmarks/served.json; run python -m benchmarks.live."
        )
    if fan_out_figures.table(fan_out_figures.read()) not in fan_out_figures.PAGE.read_text("utf-8"):
        problems.append(
            "benchmarks/README.md does not hold the table of fan_out.json; run python -m benchmarks.fan_out."
        )
    return problems


def renew(figures: Figures) -> None:
    """Draw the chart, and put the table in the place of the one that the page has."""
    CHART.write_text(draw(figures), "utf-8")
    text, count = _TABLE.subn(costs_table(figures) + "\n", PAGE.read_text("utf-8"))
    if count != 1:
        raise SystemExit("docs/benchmarks.md has no table of the costs to put the new one in place of.")
    PAGE.write_text(text, "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chart", description="The chart of docs/benchmarks.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if something is out of date")
    options = parser.parse_args()
    figures = read()
    if options.check:
        print("\n".join(stale(figures)), end="")
        return 1 if stale(figures) else 0
    renew(figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
