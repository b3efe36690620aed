"""Writes a report to disk as HTML, Markdown and JSON, with its pictures."""

import re
from pathlib import Path

from heald_studio.evaluate.report import EvaluationReport
from heald_studio.evaluate.report_html import render_html
from heald_studio.evaluate.report_markdown import render_markdown
from heald_studio.evaluate.report_tables import row_pictures

_UNSAFE = re.compile(r"[^a-z0-9]+")


def write_report(report: EvaluationReport, folder: Path) -> Path:
    """Write the report into the folder, over an earlier one, and return the path of the HTML file."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.webp"):
        old.unlink()
    paths: list[dict[str, str]] = []
    for number, row in enumerate(report.rows, 1):
        name = _UNSAFE.sub("-", f"{row.target}-{row.model}-{row.stack}".lower()).strip("-")[:80]
        images = row_pictures(row)
        paths.append({kind: f"pictures/{number:03}-{name}-{kind}.webp" for kind in images})
        for kind, image in images.items():
            (folder / paths[-1][kind]).write_bytes(image)
    (folder / "report.json").write_bytes(report.as_json())
    (folder / "report.md").write_text(render_markdown(report, paths), "utf-8", "replace")
    html = folder / "report.html"
    html.write_text(render_html(report), "utf-8", "replace")
    return html
