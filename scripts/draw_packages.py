"""Draws docs/images/packages.svg: the distributions above what they import, and the layers of core."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DRAWING = ROOT / "docs" / "images" / "packages.svg"
ROWS = (
    ("heald",),
    ("cli", "studio", "nodes", "local", "check", "evals", "acp", "notify"),
    ("server", "pictures", "forges"),
    ("core",),
)
"""The folders of the packages, from the top to the bottom."""
CORE = ("core", "wires · http1 · config", "providers · tools", "agent", "sessions", "commands")
"""The layers of `heald-core`, the lowest first."""
DELTA = "One delta: bytes → framing → a wire's decoder → event → bus → log (sessions) → dialect → socket (server)"
OWNS = {
    "heald": "the product: no code, extras for the rest",
    "cli": "chat, editors",
    "studio": "pictures to pages",
    "nodes": "PostgreSQL …",
    "local": "pictures to code",
    "check": "conformance, logs",
    "evals": "cases of agents",
    "acp": "external agents",
    "notify": "webhooks",
    "server": "HTTP, streams, protocols, the page",
    "pictures": "boxes, regions, fonts",
    "forges": "pull requests, reviews",
}
WIDTH, ROW_HEIGHT, GAP, MARGIN = 900, 62, 12, 20
CORE_HEIGHT = 118
_STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #4a5263 }
  .name { font-weight: 600; font-size: 14px; fill: #1d2330 }
  .package { fill: #eef2f6; stroke: #c5ccd8 }
  .layer { fill: #ffffff; stroke: #d8dde6 }
  .note { fill: #2f6f8f }
  @media (prefers-color-scheme: dark) {
    text { fill: #b4bccb }
    .name { fill: #f0f3f8 }
    .package { fill: #1f2630; stroke: #3f4857 }
    .layer { fill: #161b22; stroke: #3f4857 }
    .note { fill: #5fb0d3 }
  }
"""


def distribution(folder: str) -> str:
    """The name of a package's distribution."""
    return tomllib.loads((ROOT / "packages" / folder / "pyproject.toml").read_text("utf-8"))["project"]["name"]


def draw() -> str:
    core_top = MARGIN + 3 * (ROW_HEIGHT + GAP)
    height = core_top + CORE_HEIGHT + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'role="img" aria-label="The packages of Heald and the path of one delta">',
        f"<style>{_STYLE}</style>",
    ]
    for number, row in enumerate(ROWS[:-1]):
        parts += _draw_row(row, MARGIN + number * (ROW_HEIGHT + GAP))
    parts += _draw_core(core_top)
    return "\n".join([*parts, "</svg>", ""])


def _draw_row(row: tuple[str, ...], top: float) -> Iterator[str]:
    width = (WIDTH - 2 * MARGIN - GAP * (len(row) - 1)) / len(row)
    for number, folder in enumerate(row):
        left = MARGIN + number * (width + GAP)
        yield _box("package", left, top, width, ROW_HEIGHT, 6)
        yield f'<text class="name" x="{left + 12:.0f}" y="{top + 25:.0f}">{distribution(folder)}</text>'
        yield f'<text x="{left + 12:.0f}" y="{top + 44:.0f}">{OWNS[folder]}</text>'


def _draw_core(top: float) -> Iterator[str]:
    yield _box("package", MARGIN, top, WIDTH - 2 * MARGIN, CORE_HEIGHT, 6)
    yield f'<text class="name" x="{MARGIN + 12}" y="{top + 25:.0f}">{distribution("core")}</text>'
    yield f'<text x="{MARGIN + 120}" y="{top + 25:.0f}">the agent runtime; each layer imports those to its left</text>'
    for left, width, layer in _layers():
        yield _box("layer", left, top + 44, width, 40, 4)
        yield f'<text x="{left + width / 2:.0f}" y="{top + 69:.0f}" text-anchor="middle">{layer}</text>'
    yield f'<text class="note" x="{MARGIN + 12}" y="{top + 105:.0f}">{DELTA}</text>'


def _layers() -> Iterator[tuple[float, float, str]]:
    width = (WIDTH - 2 * MARGIN - 24 - GAP * (len(CORE) - 1)) / len(CORE)
    for number, layer in enumerate(CORE):
        yield MARGIN + 12 + number * (width + GAP), width, layer


def _box(kind: str, left: float, top: float, width: float, height: float, radius: int) -> str:
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"/>'
    )


def main() -> int:
    DRAWING.write_text(draw(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
