"""A report on disk: `report.html` and `report.md` for people, `report.json` for programs, and the pictures."""

import re
from pathlib import Path

from weft.studio.evaluate.markdown import markdown
from weft.studio.evaluate.page import page
from weft.studio.evaluate.report import Report

_UNSAFE = re.compile(r"[^a-z0-9]+")


def write_report(report: Report, folder: Path) -> Path:
    """Write it into the folder, in place of a report that was there, and give back the path of the HTML file."""
    pictures = folder / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.webp"):
        old.unlink()
    paths: list[dict[str, str]] = []
    for number, row in enumerate(report.rows, 1):
        name = _UNSAFE.sub("-", f"{row.target}-{row.model}-{row.stack}".lower()).strip("-")[:80]
        kinds = {"target": row.pictures.target, "result": row.pictures.result, "difference": row.pictures.heat}
        files = {kind: (f"pictures/{number:03}-{name}-{kind}.webp", image) for kind, image in kinds.items() if image}
        for path, image in files.values():
            (folder / path).write_bytes(image)
        paths.append({kind: path for kind, (path, _) in files.items()})
    (folder / "report.json").write_bytes(report.as_json())
    (folder / "report.md").write_text(markdown(report, paths), "utf-8", "replace")
    html = folder / "report.html"
    html.write_text(page(report), "utf-8", "replace")
    return html
